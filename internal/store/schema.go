package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// migrations bring a file from version i to i+1 (PRAGMA user_version). What stands
// here is never changed: a change is one more.
var migrations = []string{
	`CREATE TABLE runs (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		kind TEXT NOT NULL,
		name TEXT NOT NULL,
		at INTEGER NOT NULL, -- when it ran, ms since 1970
		model TEXT NOT NULL,
		target TEXT NOT NULL, -- the service's URL, or the cluster
		source TEXT NOT NULL, -- the tool that made the document
		summary TEXT NOT NULL,
		document BLOB NOT NULL -- JSON, deflated
	);
	CREATE INDEX runs_at ON runs (at);
	CREATE TABLE samples (
		run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
		stage INTEGER NOT NULL,
		metric TEXT NOT NULL,
		vals BLOB NOT NULL, -- ms, 32-bit floats, little-endian, deflated
		PRIMARY KEY (run, stage, metric)
	) WITHOUT ROWID;`,
	`CREATE TABLE live (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		at INTEGER NOT NULL, -- when it was told of last, ms since 1970
		model TEXT NOT NULL,
		target TEXT NOT NULL, -- the service's URL
		state TEXT NOT NULL -- JSON
	);`,
}

// tables are those of a file of kept runs with the columns of every version, and the version that brought them.
var tables = []struct {
	since         int
	name, columns string
}{
	{1, "runs", "id kind name at model target source summary document"},
	{1, "samples", "run stage metric vals"},
	{2, "live", "id at model target state"},
}

// errForeign is the error of a file that is not touched.
var errForeign = errors.New("no file of kept runs, but a database of another program: name another file, or leave it out for the usual one")

// identify is the version of a file of kept runs, 0 of one that holds nothing yet, and whether a log lies beside it
// (WAL). Other files and those of a later version of this program are refused.
func identify(ctx context.Context, db *sql.DB) (version int, log bool, _ error) {
	var own, objects int
	var journal string
	err := db.QueryRowContext(ctx, "SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version, pragma_application_id").
		Scan(&version, &own, &objects) // in one look: another process may be making the tables
	if err == nil {
		err = db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&journal)
	}
	if err != nil {
		return 0, false, err
	}
	if own != 0 || version < 0 || version == 0 && objects > 0 {
		return 0, false, errForeign
	}
	for _, t := range tables {
		var columns string
		if err := db.QueryRowContext(ctx, "SELECT coalesce(group_concat(name, ' '), '') FROM pragma_table_info(?)", t.name).Scan(&columns); err != nil {
			return 0, false, err
		}
		if version >= t.since && columns != t.columns && (version <= len(migrations) || columns == "") {
			return 0, false, errForeign
		}
	}
	if version > len(migrations) {
		return 0, false, fmt.Errorf("kept by a later version of this program (%d, this one knows %d): update it, or name another file", version, len(migrations))
	}
	return version, journal == "wal", nil
}

// leaveLog gives the file a journal that ends with each change: a log would be written, at the next use, into whatever
// takes the file's place. While a process of an earlier version has it open the log stays.
func leaveLog(ctx context.Context, db *sql.DB) error {
	c, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	_, err = c.ExecContext(ctx, "PRAGMA journal_mode = DELETE")
	var held *sqlite.Error
	if errors.As(err, &held) && held.Code()&0xff == sqlite3.SQLITE_BUSY {
		return nil
	}
	return err
}

// migrate brings a file that is known to be one of kept runs, or empty, up to date.
func migrate(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // nothing after a commit
	version := 0
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	for ; version < len(migrations); version++ {
		if _, err := tx.ExecContext(ctx, migrations[version]); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(migrations))); err != nil {
		return err
	}
	return tx.Commit()
}
