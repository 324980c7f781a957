package bench

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

// reread is a report made from what a run wrote to a file.
func reread(t *testing.T, records []*Record, cut int) *Report {
	t.Helper()
	var b bytes.Buffer
	for _, r := range records {
		if err := NewRecordWriter(&b).Write(r); err != nil {
			t.Fatal(err)
		}
	}
	f, err := ReadRecords(bytes.NewReader(b.Bytes()[:b.Len()-cut]), "a.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	d, err := Merge([]*Recorded{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// What a run warns of, the report that is made from its records warns of as well.
func TestMergeWarnsAsItsRunsDid(t *testing.T) {
	words := func(s *stream, n int) {
		s.tokens(n, 10*ms)
		s.finish()
		s.raw("data: [DONE]\n\n")
	}
	for name, x := range map[string]struct {
		answer script
		set    func(c *Config)
		want   string
	}{
		"nothing counted":    {func(_ *asked, s *stream) { words(s, 4) }, nil, "the rest is counted by chunks"},
		"wrong lengths":      {steady(10*ms, 2, 10*ms), nil, "not as long as asked"},
		"several per chunk":  {func(_ *asked, s *stream) { s.tokens(4, 10*ms); s.end(8, 40) }, nil, "a chunk carries 10 tokens"},
		"read together":      {func(_ *asked, s *stream) { s.tokens(1, 10*ms); s.tokens(3, 0); s.end(8, 4) }, nil, "were read together"},
		"few for their load": {steady(10*ms, 4, 10*ms), func(c *Config) { c.Levels, c.Requests = []Level{{Mode: Closed, Concurrency: 8}}, 4 }, "of 8 were in flight"},
		"late behind a cap":  {steady(time.Second, 4, 10*ms), func(c *Config) { c.Levels, c.Cap, c.Requests = open(12), 2, 30 }, "ms after their time"},
	} {
		w := evaluate(t, x.answer, x.set)
		d := reread(t, w.records, 0)
		if s := &d.Stages[0]; !told(s, x.want) || len(s.Notes) != len(s.Warnings) || d.Partial {
			t.Errorf("%s: %q, the run itself: %q", name, s.Warnings, w.Stages[0].Warnings)
		}
		if s := &d.Stages[0]; (s.Unsent == nil) != (s.Mode == Open) {
			t.Errorf("%s: %v never sent: records hold those that were sent", name, s.Unsent)
		}
	}
}

// Records whose end is missing are joined, and the report says what may be missing.
func TestMergeOfACutFile(t *testing.T) {
	w := evaluate(t, steady(10*ms, 4, 10*ms), func(c *Config) {
		c.Levels, c.Requests = []Level{{Mode: Closed, Concurrency: 1}, {Mode: Closed, Concurrency: 2}}, 20
	})
	for cut, partial := range map[int]bool{0: false, 1: false, 100: true} { // the end of the last line alone is no loss
		d := reread(t, w.records, cut)
		if d.Partial != partial || d.Stages[0].Partial || d.Stages[1].Partial != partial {
			t.Errorf("%d bytes less: partial %v, stages %v and %v", cut, d.Partial, d.Stages[0].Partial, d.Stages[1].Partial)
		}
		if said := slices.ContainsFunc(d.Warnings, func(x string) bool {
			return strings.HasPrefix(x, "a.jsonl ends within a line") && strings.Contains(x, "from stage 2 on")
		}); said != partial {
			t.Errorf("%d bytes less: %q", cut, d.Warnings)
		}
	}
}
