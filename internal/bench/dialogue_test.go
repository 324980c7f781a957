package bench

import (
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
		texts = append(texts, a.text())
		if a.Max != 0 || a.Ignore {
			t.Errorf("the model decides how long answers are, yet %d tokens are asked for", a.Max)
		}
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
