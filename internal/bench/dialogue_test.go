package bench

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/workload"
)

const someDialogues = `[{"id": "a", "conversations": [{"from": "human", "value": "hello"}, {"from": "gpt", "value": "hi there"}, {"from": "human", "value": "bye"}, {"from": "gpt", "value": "bye bye"}]},
 {"conversations": [{"from": "gpt", "value": "it begins with an answer"}]},
 {"conversations": [{"from": "user", "value": "again"}, {"from": "assistant", "value": "yes"}, {"from": "human", "value": "no answer"}]}]`

func TestDialoguesAreAsked(t *testing.T) {
	list, err := ReadDialogues(strings.NewReader(someDialogues), "x", nil)
	if err != nil || len(list) != 2 || len(list[0].Questions) != 2 || len(list[1].Questions) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	w := evaluate(t, steady(10*time.Millisecond, 3, time.Millisecond), func(c *Config) {
		c.Dialogues, c.Input, c.Output, c.Turns, c.Requests = list, workload.Length{}, workload.Length{}, 2, 5
	})
	var texts []string
	for _, a := range w.asked {
		_, asked, _ := strings.Cut(a.text(), ") ")
		texts = append(texts, cmp.Or(asked, a.text()))
		if a.Max != 0 || a.Ignore {
			t.Errorf("the model decides how long answers are, yet %d tokens are asked for", a.Max)
		}
	}
	if w.Load != "2 dialogues, 2 turns" {
		t.Errorf("load %q", w.Load)
	}
	if !slices.Equal(texts, []string{"hello", "bye", "again", "hello", "bye"}) || len(w.asked[1].Messages) != 3 {
		t.Errorf("%q", texts)
	}
	for _, bad := range []string{"", "{}", "[", "[]", `[{"conversations": 3}]`, `[{"conversations": []}`} {
		if _, err := ReadDialogues(strings.NewReader(bad), "x", nil); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// The same dialogues in two stages, twice in each, and in another run: no first question is
// asked twice word for word, a later one holds its conversation, and hits of the prefix
// cache are as surprising as those of random prompts.
func TestDialoguesAreNew(t *testing.T) {
	list, err := ReadDialogues(strings.NewReader(someDialogues), "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, nonce := range []string{"one", "two"} {
		w := evaluate(t, steady(ms, 3, ms), func(c *Config) {
			c.Dialogues, c.Input, c.Output, c.Requests, c.Nonce = list, workload.Length{}, workload.Length{}, 4, nonce
			c.Levels = []Level{{Mode: Closed, Concurrency: 1}, {Mode: Closed, Concurrency: 2}}
		})
		for _, a := range w.asked {
			if seen[a.text()] || !strings.HasSuffix(a.text(), ") hello") && !strings.HasSuffix(a.text(), ") again") {
				t.Errorf("run %s: %q is not new, or not the dialogue's", nonce, a.text())
			}
			seen[a.text()] = true
		}
		if w.Load != "2 dialogues, the first question of each: --turns 2 asks them all" {
			t.Errorf("load %q", w.Load)
		}
		if len(w.asked) != 8 || !strings.Contains(w.Prompts, "4 random words before") {
			t.Errorf("%d questions, %q", len(w.asked), w.Prompts)
		}
	}
	half := 0.5
	s := Stage{Server: &ServerMetrics{PrefixHits: &half}}
	if l := s.serverWarnings(&Config{Dialogues: list, Turns: 1}, nil); len(l) != 1 || l[0].Code != "prefix_hits" {
		t.Errorf("half of the prompts from the cache: %v", l)
	}
	if l := s.serverWarnings(&Config{Dialogues: list, Turns: 2}, nil); len(l) != 0 {
		t.Errorf("later turns find their history: %v", l)
	}
}

func FuzzReadDialogues(f *testing.F) {
	f.Add(someDialogues)
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ReadDialogues(strings.NewReader(text), "x", nil)
		if err != nil {
			return
		}
		for _, d := range list {
			if len(d.Questions) == 0 || len(d.Questions) != len(d.Answers) {
				t.Errorf("%+v", d)
			}
		}
	})
}
