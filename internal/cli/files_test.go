package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// names are the files of a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

// A write that fails leaves the older file as it was, no new one and nothing beside it.
func TestFilesAreReplacedWhole(t *testing.T) {
	dir := t.TempDir()
	old, fresh, link := filepath.Join(dir, "old"), filepath.Join(dir, "fresh"), filepath.Join(dir, "link")
	if err := os.WriteFile(old, []byte("as it was"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("old", link); err != nil {
		t.Skip(err)
	}
	stopped := errors.New("stopped")
	for _, name := range []string{old, fresh, link} {
		err := writeFile(name, func(w io.Writer) error {
			if _, err := io.WriteString(w, strings.Repeat("half ", 10_000)); err != nil {
				return err
			}
			return stopped
		})
		if data, _ := os.ReadFile(old); err != stopped || string(data) != "as it was" || names(t, dir) != "link old" {
			t.Errorf("%s: %v, old file %.20q, folder %s", name, err, data, names(t, dir))
		}
	}
	if err := writeBytes(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(old)
	info, err := os.Stat(old)
	if kind, _ := os.Lstat(link); err != nil || string(data) != "new" || info.Mode().Perm() != 0o640 || kind.Mode()&os.ModeSymlink == 0 || names(t, dir) != "link old" {
		t.Errorf("%q, %v, %v, folder %s", data, info.Mode(), err, names(t, dir))
	}
	if err := writeFiles(outFile{fresh, []byte("a")}, outFile{}, outFile{filepath.Join(dir, "none", "x"), nil}); err == nil || names(t, dir) != "link old" {
		t.Errorf("one of two files: %v, folder %s", err, names(t, dir))
	}
	for _, name := range []string{dir, filepath.Join(dir, "none", "x")} {
		var bad *exitError
		if err := writeBytes(name, nil); !errors.As(err, &bad) || bad.code != exitBadInput || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := notOver("out", old, link); err == nil || notOver("out", fresh, link) != nil {
		t.Errorf("an output over an input: %v", err)
	}
}
