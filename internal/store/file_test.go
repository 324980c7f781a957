package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A store whose file is deleted, replaced by another or by something else goes on
// with what stands at its path, as another process would see it.
func TestFileIsReplaced(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "runs.db"), filepath.Join(dir, "other.db")
	d := open(t, path)
	names := func(d *DB) (list []string) {
		t.Helper()
		runs, err := d.List(t.Context(), Filter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			list = append(list, r.Name)
		}
		return list
	}
	add := func(d *DB, name string) {
		t.Helper()
		if _, err := d.Add(t.Context(), run(name)); err != nil {
			t.Fatal(err)
		}
	}
	gone := func() {
		t.Helper()
		files, err := filepath.Glob(path + "*")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if err := os.Remove(f); err != nil {
				t.Skip("an open file cannot be removed here:", err)
			}
		}
	}
	add(d, "lost")
	l := &Live{At: time.Now(), State: []byte(`{}`)}
	if err := d.Tell(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	gone()
	add(d, "new")
	if got := names(open(t, path)); len(got) != 1 || got[0] != "new" {
		t.Errorf("another process sees %q, want what was kept after the file went", got)
	}
	if err := d.Tell(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if got, err := open(t, path).Underway(t.Context(), l.ID, time.Time{}); err != nil || got == nil {
		t.Errorf("what is under way is not told of in the new file: %v, %v", got, err)
	}
	o, err := Open(t.Context(), other, true)
	if err != nil {
		t.Fatal(err)
	}
	add(o, "other's")
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	gone()
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	if got := names(d); len(got) != 1 || got[0] != "other's" {
		t.Errorf("%q after the file was replaced by another store", got)
	}
	gone()
	if err := os.WriteFile(path, []byte(strings.Repeat("garbage\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Add(t.Context(), run("x")); err == nil || !strings.Contains(err.Error(), "no file of kept runs") {
		t.Errorf("on a text: %v", err)
	}
	gone()
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Add(t.Context(), run("x")); err == nil || !strings.Contains(err.Error(), "put back its folder") {
		t.Errorf("without a folder: %v", err)
	}
	if err := os.Rename(dir+"-away", dir); err != nil {
		t.Fatal(err)
	}
	add(d, "again")
	if got := names(d); len(got) != 1 {
		t.Errorf("%q after the text was removed", got)
	}
}

func TestClosed(t *testing.T) {
	d := open(t, filepath.Join(t.TempDir(), "runs.db"))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.List(t.Context(), Filter{}); err != ErrClosed {
		t.Errorf("after Close: %v", err)
	}
}
