package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
)

// DB is an open store, for many goroutines. It follows its path: where the file is
// deleted or replaced while it is open, the next use is of what stands there then,
// as another process would find it, and not of a file that ends with this one.
type DB struct {
	path   string
	create bool         // make the file where it is missing
	mu     sync.RWMutex // readers use sql, the writer changes the file
	sql    *sql.DB      // nil = closed, or the file that replaced it does not open
	file   os.FileInfo  // that sql has open
	closed bool
}

// ErrClosed is the error of a store after Close.
var ErrClosed = errors.New("the file of kept runs is closed")

// Close ends the use of the file.
func (d *DB) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	return d.shut()
}

// shut closes what is open; the caller holds the lock.
func (d *DB) shut() error {
	if d.sql == nil {
		return nil
	}
	db := d.sql
	d.sql = nil
	return db.Close()
}

// with lets f use the file that stands at the path, and words its errors.
func (d *DB) with(ctx context.Context, f func(*sql.DB) error) error {
	d.mu.RLock()
	for !d.current() {
		d.mu.RUnlock()
		d.mu.Lock()
		var err error
		if !d.current() { // nobody else was here first
			err = d.reopen(ctx)
		}
		d.mu.Unlock()
		if err != nil {
			return err
		}
		d.mu.RLock()
	}
	defer d.mu.RUnlock()
	return plain(f(d.sql))
}

// current tells whether the file at the path is the one that is open.
func (d *DB) current() bool {
	if d.sql == nil {
		return false
	}
	now, err := os.Stat(d.path)
	return err == nil && os.SameFile(now, d.file)
}

// reopen opens the file at the path; the caller holds the lock. A folder that went
// is not made again: a disk may have been taken out.
func (d *DB) reopen(ctx context.Context) error {
	if d.closed {
		return ErrClosed
	}
	_ = d.shut() // whatever it says of a file that is gone
	file, err := os.Stat(d.path)
	if errors.Is(err, os.ErrNotExist) && d.create {
		if err = touch(d.path); err == nil {
			file, err = os.Stat(d.path)
		}
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return errors.New("the file of kept runs is gone and cannot be made again: put back its folder, or name another file")
	case err != nil:
		return err
	}
	// Write-ahead logging lets readers go on while one process writes; transactions
	// take the write lock at once, so that none fails half way.
	at := fmt.Sprintf("file:%s?_pragma=busy_timeout(%d)&_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_txlock=immediate", escape(d.path), patience.Milliseconds())
	db, err := sql.Open("sqlite", at)
	if err != nil {
		return err
	}
	if err := migrate(ctx, db); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", d.path, plain(err)), db.Close())
	}
	d.sql, d.file = db, file
	return nil
}
