package store

import (
	"encoding/json"
	"path/filepath"
	"testing"
	"time"
)

// What is told of a measurement is there for another process until it ends; what a
// dead process told is there until it is too old.
func TestMeasurementsUnderWay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	teller, page := open(t, path), open(t, path)
	ctx, start := t.Context(), time.UnixMilli(1_700_000_000_000).UTC()
	under := func(id int64, since time.Time) *Live {
		t.Helper()
		l, err := page.Underway(ctx, id, since)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	if l := under(0, start); l != nil {
		t.Errorf("nothing runs: %+v", l)
	}
	l := &Live{At: start, Model: "m", Target: "http://user:secret@h/v1?key=secret", State: json.RawMessage(`{"sent":1}`)}
	if err := teller.Tell(ctx, l); err != nil || l.ID == 0 {
		t.Fatal(l.ID, err)
	}
	l.At, l.State = start.Add(time.Second), json.RawMessage(`{"sent":2}`)
	if err := teller.Tell(ctx, l); err != nil {
		t.Fatal(err)
	}
	if got := under(0, start); got == nil || got.ID != l.ID || !got.At.Equal(l.At) || string(got.State) != `{"sent":2}` || got.Target != "http://h/v1" || got.Model != "m" {
		t.Errorf("%+v", got)
	}
	if got := under(l.ID, start.Add(2*time.Second)); got != nil {
		t.Errorf("told of before: %+v", got)
	}
	later := &Live{At: start.Add(forgotten + 2*time.Second), State: json.RawMessage(`{}`)}
	if err := teller.Tell(ctx, later); err != nil {
		t.Fatal(err)
	}
	if under(l.ID, start) != nil {
		t.Error("a day old and still there")
	}
	if err := teller.Over(ctx, later.ID); err != nil || under(0, start) != nil {
		t.Error("over and still there", err)
	}
	if err := teller.Tell(ctx, &Live{State: json.RawMessage(`{`)}); err == nil {
		t.Error("no JSON, and no error")
	}
}
