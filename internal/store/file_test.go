package store

import (
	"bytes"
	"database/sql"
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

// A store whose file is overwritten in place, by whatever it may be, tells what stands there, leaves it byte for byte
// as it is, and goes on where a store is put back.
func TestFileIsOverwritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "runs.db")
	d := open(t, path)
	keep := func(name string) error {
		_, err := d.Add(t.Context(), run(name))
		return err
	}
	read := func(file string) []byte {
		t.Helper()
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	overwrite := func(with []byte) {
		t.Helper()
		if err := os.WriteFile(path, with, 0o600); err != nil { // the inode stays
			t.Fatal(err)
		}
	}
	foreign := func(name string, statements ...string) []byte {
		t.Helper()
		file := filepath.Join(dir, name)
		db, err := sql.Open("sqlite", "file:"+file)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range statements {
			if _, err := db.Exec(s); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		return read(file)
	}
	if err := keep("first"); err != nil {
		t.Fatal(err)
	}
	own := read(path)
	for name, other := range map[string][]byte{
		"a text":              []byte(strings.Repeat("garbage\n", 1000)),
		"a database":          foreign("a.db", "CREATE TABLE bookmarks (id INTEGER PRIMARY KEY, url TEXT)", "INSERT INTO bookmarks (url) VALUES ('x')"),
		"one with our number": foreign("b.db", "CREATE TABLE runs (id INTEGER PRIMARY KEY, distance REAL)", "PRAGMA user_version = 2"),
		"one with a log":      foreign("c.db", "PRAGMA journal_mode = WAL", "CREATE TABLE x (y)", "PRAGMA user_version = 1"),
		"one that is claimed": foreign("d.db", "PRAGMA application_id = 1196444487"),
		"half a file of ours": own[:len(own)/2],
	} {
		overwrite(other)
		if err := keep("lost"); err == nil || strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want an error without the path", name, err)
		}
		if _, err := d.List(t.Context(), Filter{}); err == nil {
			t.Errorf("%s is listed", name)
		}
		if _, err := Open(t.Context(), path, true); err == nil {
			t.Errorf("%s is opened", name)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(read(path), other) {
			t.Errorf("%s was written into", name)
		}
		overwrite(own)
		d = open(t, path)
		if err := keep("next"); err != nil {
			t.Errorf("a store in place of %s: %v", name, err)
		}
		if list, err := d.List(t.Context(), Filter{}); err != nil || len(list) != 2 {
			t.Errorf("%d runs in place of %s, %v, want the first and the next", len(list), name, err)
		}
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

// What a use costs, the look at the file included.
func BenchmarkTell(b *testing.B) {
	d := open(b, filepath.Join(b.TempDir(), "runs.db"))
	l := &Live{At: time.Now(), State: []byte(`{}`)}
	for b.Loop() {
		if err := d.Tell(b.Context(), l); err != nil {
			b.Fatal(err)
		}
	}
}
