package validate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// errLoop is a folder that a link leads back to.
var errLoop = errors.New("the link leads back to a folder that it lies in: remove it")

// OperatorTables lists the kernel tables below a folder, or the one file, in the
// order of their names. Links to folders are followed; one that leads back to a folder
// above it is in loops.
func OperatorTables(path string) (tables []string, loops []Skipped, err error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: give a folder or a file of kernel tables", err)
	}
	if !st.IsDir() {
		return []string{path}, nil, nil
	}
	w := tableWalk{root: path}
	if err := w.walk(path, []os.FileInfo{st}); err != nil {
		return nil, nil, err
	}
	if len(w.tables) == 0 {
		if len(w.loops) > 0 {
			return nil, nil, fmt.Errorf("%s: %s", w.loops[0].ID, w.loops[0].Reason)
		}
		return nil, nil, fmt.Errorf("%s: no *.parquet below it: give a folder <gpu>/<kind>/*.parquet", path)
	}
	slices.Sort(w.tables)
	return w.tables, w.loops, nil
}

// tableWalk gathers the tables below a folder.
type tableWalk struct {
	root   string
	tables []string
	loops  []Skipped
}

// walk reads one folder; above are it and the folders that led to it.
func (w *tableWalk) walk(dir string, above []os.FileInfo) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		st, err := os.Stat(path)
		switch {
		case err != nil || !st.IsDir(): // a link to nothing is named when it is read
			if strings.HasSuffix(path, ".parquet") {
				w.tables = append(w.tables, path)
			}
		case slices.ContainsFunc(above, func(x os.FileInfo) bool { return os.SameFile(x, st) }):
			w.loops = append(w.loops, Skipped{tableID(w.root, path), errLoop.Error()})
		default:
			if err := w.walk(path, append(slices.Clip(above), st)); err != nil {
				return err
			}
		}
	}
	return nil
}
