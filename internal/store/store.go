// Package store keeps runs: measurements of services, predictions, simulations,
// probes and validations, each as the JSON document that its command prints, in one
// SQLite file. Several processes may write at once. It keeps no prompt, no answer
// and no key, and knows of a document only what lists show.
package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"modernc.org/sqlite" // the driver too
	sqlite3 "modernc.org/sqlite/lib"
)

// Variable names the environment variable that may name the file.
const Variable = "RIDGELINE_DB"

// DefaultPath is where runs are kept unless told otherwise: $RIDGELINE_DB, or
// ridgeline/runs.db in the user's data directory (XDG base directories, macOS's
// Application Support, Windows' local application data).
func DefaultPath() (string, error) {
	if p := os.Getenv(Variable); p != "" {
		return p, nil
	}
	dir := os.Getenv("XDG_DATA_HOME")
	switch runtime.GOOS {
	case "windows":
		dir = os.Getenv("LocalAppData")
	case "darwin":
		dir = ""
	}
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no data directory: %w: name a file with --db or %s", err, Variable)
		}
		dir = filepath.Join(home, ".local", "share")
		if runtime.GOOS == "darwin" {
			dir = filepath.Join(home, "Library", "Application Support")
		}
	}
	return filepath.Join(dir, "ridgeline", "runs.db"), nil
}

// patience is how long a writer waits for another one.
const patience = 10 * time.Second

// Open opens the file and brings it up to date; with create it is made where it is
// missing, with its directory, readable by its user alone.
func Open(ctx context.Context, path string, create bool) (*DB, error) {
	if _, err := os.Stat(path); err != nil {
		if !create || !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if err := touch(path); err != nil {
			return nil, err
		}
	}
	d := &DB{path: path, create: create}
	if err := plain(d.look(ctx)); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

var errUnopened = errors.New("cannot be opened as a file of kept runs: name a file that you may write")

// plain says in this program's words, with the mend, why a file cannot be used.
func plain(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff { // the primary code, https://sqlite.org/rescode.html
	case sqlite3.SQLITE_NOTADB:
		return errors.New("no file of kept runs: name another, or leave it out for the usual one")
	case sqlite3.SQLITE_CORRUPT:
		return errors.New("the file of kept runs is damaged: put back a copy, or name another file")
	case sqlite3.SQLITE_CANTOPEN:
		return errUnopened
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("another program holds the file of kept runs for more than %v: end that one, or name another file", patience)
	case sqlite3.SQLITE_FULL:
		return errors.New("no room on the disk for the file of kept runs: make some, or name a file on another disk")
	case sqlite3.SQLITE_READONLY:
		return errors.New("the file of kept runs may not be written: allow it, or name another file")
	}
	return err
}

// touch makes a file that its user alone may read.
func touch(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// escape keeps a path's characters out of a URI's syntax.
func escape(path string) string {
	out := []byte{}
	for _, c := range []byte(filepath.ToSlash(path)) {
		if c == '?' || c == '#' || c == '%' {
			out = fmt.Appendf(out, "%%%02x", c)
		} else {
			out = append(out, c)
		}
	}
	return string(out)
}
