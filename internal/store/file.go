package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// DB is a store, for many goroutines. Between uses it holds no file open: each use
// looks first at what stands at its path, as another process would. A file that was
// deleted, replaced or overwritten meanwhile is so met as it is, and one that is
// another program's is told of and not written.
type DB struct {
	path   string
	create bool // make the file where it is missing
	closed atomic.Bool
}

// ErrClosed is the error of a store after Close.
var ErrClosed = errors.New("the file of kept runs is closed")

// Close ends the use of the file.
func (d *DB) Close() error {
	d.closed.Store(true)
	return nil
}

// with lets f use the file that stands at the path, and words its errors.
func (d *DB) with(ctx context.Context, f func(*sql.DB) error) error {
	if d.closed.Load() {
		return ErrClosed
	}
	err := d.look(ctx)
	if err == nil {
		err = d.connected("rw", f)
	}
	return plain(err)
}

// connected lets f use the file as it is, to read (ro) or to write (rw), and closes it. Transactions take the write
// lock at once, so that none fails half way.
func (d *DB) connected(mode string, f func(*sql.DB) error) error {
	at := fmt.Sprintf("file:%s?mode=%s&_pragma=busy_timeout(%d)&_pragma=foreign_keys(1)&_txlock=immediate", escape(d.path), mode, patience.Milliseconds())
	db, err := sql.Open("sqlite", at)
	if err != nil {
		return err
	}
	return errors.Join(f(db), db.Close())
}

// look makes the file where it is missing, refuses what is no file of kept runs without writing into it, and brings
// it up to date. Its errors do not name the path, which clients of a server are not told.
func (d *DB) look(ctx context.Context) error {
	found, err := os.Stat(d.path)
	if errors.Is(err, os.ErrNotExist) && d.create {
		err = touch(d.path)
	}
	var named *os.PathError
	switch {
	case errors.Is(err, os.ErrNotExist): // a folder that went is not made again: a disk may have been taken out
		return errors.New("the file of kept runs is gone and cannot be made again: put back its folder, or name another file")
	case errors.As(err, &named):
		return fmt.Errorf("the file of kept runs: %w", named.Err)
	case found != nil && found.IsDir():
		return errUnopened
	}
	v, log := 0, false
	known := func(db *sql.DB) (err error) {
		v, log, err = identify(ctx, db)
		return err
	}
	var refused *sqlite.Error
	err = d.connected("ro", known)
	if errors.As(err, &refused) && refused.Code()&0xff == sqlite3.SQLITE_READONLY { // a process died as it wrote: the rest is taken back
		err = d.connected("rw", known)
	}
	if err == nil && v < len(migrations) {
		err = d.connected("rw", func(db *sql.DB) error { return migrate(ctx, db) })
	}
	if err == nil && log {
		err = d.connected("rw", func(db *sql.DB) error { return leaveLog(ctx, db) })
	}
	return err
}
