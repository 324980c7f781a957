package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

func open(t testing.TB, path string) *DB {
	t.Helper()
	d, err := Open(context.Background(), path, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func run(name string) *Run {
	return &Run{Kind: Bench, Name: name, At: time.UnixMilli(1_700_000_000_123).UTC(), Model: "Llama", Target: "http://h/v1", Source: "ridgeline",
		Summary: "one line", Document: json.RawMessage(`{"a":1}`),
		Samples: []Sample{{0, "tpot", []float32{1.5, 2}}, {0, "ttft", nil}, {1, "ttft", []float32{0.25}}}}
}

// A name that means a run by number or age could never be found again.
func TestNamesThatMeanOtherRuns(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "runs.db"))
	for name, ok := range map[string]bool{"last": false, "last~1": false, "12": false, "-1": false, "+3": false, "": true, "last-1": true, "last~x": true, "lastly": true, "a\nb": false, "\x1b[31mred": false, "\xff": false, "v12": true, "last1": true} {
		_, err := d.Add(t.Context(), run(name))
		if (err == nil) != ok || (CheckName(name) == nil) != ok {
			t.Errorf("%q: %v, want accepted %t", name, err, ok)
		}
		if r, err := d.Find(t.Context(), name); ok && (err != nil || r.Name != name) {
			t.Errorf("%q is not found again: %v", name, err)
		}
	}
}

// What is kept comes back, by id, by name, by age.
func TestRunsComeBack(t *testing.T) {
	ctx := context.Background()
	d := open(t, filepath.Join(t.TempDir(), "a #?%41", "runs.db"))
	var want []*Run
	for _, name := range []string{"first", "second", "first"} {
		r := run(name)
		id, err := d.Add(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		r.ID, r.Samples[1].Values = id, []float32{}
		want = append(want, r)
	}
	for word, i := range map[string]int{"1": 0, "2": 1, "last": 2, "last~1": 1, "last~2": 0, "first": 2, "second": 1} {
		got, err := d.Find(ctx, word)
		if err != nil {
			t.Errorf("%s: %v", word, err)
		} else if diff := gocmp.Diff(want[i], got); diff != "" {
			t.Errorf("%s: %s", word, diff)
		}
	}
	for _, word := range []string{"4", "last~3", "third", "lastx", "last~-1", "", "' OR 1 --"} {
		if r, err := d.Find(ctx, word); !errors.Is(err, ErrNone) {
			t.Errorf("%q: %+v, %v", word, r, err)
		}
	}
	if err := d.Delete(ctx, 1, 9); !errors.Is(err, ErrNone) {
		t.Errorf("9 was deleted: %v", err)
	}
	if err := d.Delete(ctx, 1, 2); err != nil {
		t.Error(err)
	}
	list, err := d.List(ctx, Filter{})
	if err != nil || len(list) != 1 || list[0].ID != 3 {
		t.Errorf("list %v, %v", list, err)
	}
	left := 0
	if err := d.with(ctx, func(db *sql.DB) error { return db.QueryRow("SELECT count(*) FROM samples").Scan(&left) }); err != nil || left != 3 {
		t.Errorf("%d samples left, %v", left, err)
	}
}

func TestFilters(t *testing.T) {
	ctx := context.Background()
	d := open(t, filepath.Join(t.TempDir(), "runs.db"))
	for i, k := range Kinds {
		r := run(fmt.Sprint("n", i))
		if r.Kind = k; i > 2 {
			r.Model = "Qwen"
		}
		if _, err := d.Add(ctx, r); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		f    Filter
		want int
	}{{Filter{}, 5}, {Filter{Kind: Probe}, 1}, {Filter{Model: "lla"}, 3}, {Filter{Name: "N4"}, 1}, {Filter{Most: 2}, 2}, {Filter{Model: "lla", Kind: Validation}, 0}} {
		if list, err := d.List(ctx, x.f); err != nil || len(list) != x.want {
			t.Errorf("%+v: %d runs, %v", x.f, len(list), err)
		}
	}
}

// No key of a URL is kept, and the file is its user's alone.
func TestNoSecrets(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "runs.db")
	d := open(t, path)
	r := run("x")
	r.Target = "https://me:hunter2@host/v1?key=hunter2#hunter2"
	r.Document = []byte(`{"url": "https://me:hunter2@host/v1?key=hunter2#hunter2", "model": "m"}`)
	if _, err := d.Add(ctx, r); err != nil {
		t.Fatal(err)
	}
	got, err := d.Find(ctx, "last")
	if err != nil || got.Target != "https://host/v1" {
		t.Errorf("target %q, %v", got.Target, err)
	}
	if text := string(got.Document); strings.Contains(text, "hunter2") || !strings.Contains(text, `"url":"https://host/v1"`) || !strings.Contains(text, `"model":"m"`) {
		t.Errorf("document %s", text)
	}
	if s, err := os.Stat(path); err != nil || os.PathSeparator == '/' && s.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", s.Mode(), err)
	}
}

func TestOpenRefuses(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	if _, err := Open(ctx, filepath.Join(dir, "none.db"), false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, text, true); err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("a text: %v", err)
	}
	later := filepath.Join(dir, "later.db")
	d := open(t, later)
	if err := d.with(ctx, func(db *sql.DB) error { _, err := db.Exec("PRAGMA user_version = 99"); return err }); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, later, true); err == nil || !strings.Contains(err.Error(), "later version") {
		t.Errorf("a later version: %v", err)
	}
}

// Several processes that open, migrate and write at once lose nothing.
func TestProcessesWriteAtOnce(t *testing.T) {
	const writers, each = 4, 25
	if path := os.Getenv("STORE_WRITER"); path != "" {
		d := open(t, path)
		for i := range each {
			if _, err := d.Add(context.Background(), run("r"+strconv.Itoa(i))); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	path := filepath.Join(t.TempDir(), "runs.db")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, writers)
	for range writers {
		go func() {
			c := exec.Command(self, "-test.run=^TestProcessesWriteAtOnce$")
			c.Env = append(os.Environ(), "STORE_WRITER="+path)
			out, err := c.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			ended <- err
		}()
	}
	for range writers {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	list, err := open(t, path).List(context.Background(), Filter{})
	if err != nil || len(list) != writers*each {
		t.Errorf("%d runs of %d, %v", len(list), writers*each, err)
	}
}

func TestDefaultPath(t *testing.T) {
	t.Setenv(Variable, "/x/y.db")
	if p, err := DefaultPath(); err != nil || p != "/x/y.db" {
		t.Errorf("%q, %v", p, err)
	}
	t.Setenv(Variable, "")
	if p, err := DefaultPath(); err != nil || filepath.Base(p) != "runs.db" || !filepath.IsAbs(p) {
		t.Errorf("%q, %v", p, err)
	}
}
