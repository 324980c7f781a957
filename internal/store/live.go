package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/ridgeline/ridgeline/internal/input"
)

// Live is a measurement under way, as the process that carries it out told it last.
// Its row goes when the measurement ends; that of a process that died stays, and its
// time tells since when there is no news.
type Live struct {
	ID     int64 // 0 = not told of yet
	At     time.Time
	Model  string
	Target string // the service's URL; keys and names in it are left out
	State  json.RawMessage
}

// forgotten is how long what a dead process told of stays in the file.
const forgotten = 24 * time.Hour

// Tell writes where a measurement stands, and gives it its number at first.
func (d *DB) Tell(ctx context.Context, l *Live) error {
	if !json.Valid(l.State) {
		return errors.New("the state is no JSON")
	}
	return d.with(ctx, func(db *sql.DB) error {
		if l.ID != 0 {
			res, err := db.ExecContext(ctx, "UPDATE live SET at = ?, state = ? WHERE id = ?", l.At.UnixMilli(), string(l.State), l.ID)
			if err != nil {
				return err
			}
			if n, err := res.RowsAffected(); err != nil || n > 0 {
				return err
			} // else the file was replaced: it is told of anew
		}
		if _, err := db.ExecContext(ctx, "DELETE FROM live WHERE at < ?", l.At.Add(-forgotten).UnixMilli()); err != nil {
			return err
		}
		res, err := db.ExecContext(ctx, "INSERT INTO live (at, model, target, state) VALUES (?, ?, ?, ?)", l.At.UnixMilli(), l.Model, input.WithoutSecrets(l.Target), string(l.State))
		if err != nil {
			return err
		}
		l.ID, err = res.LastInsertId()
		return err
	})
}

// Over takes a measurement that ended away.
func (d *DB) Over(ctx context.Context, id int64) error {
	return d.with(ctx, func(db *sql.DB) error {
		_, err := db.ExecContext(ctx, "DELETE FROM live WHERE id = ?", id)
		return err
	})
}

// Underway is the measurement of that number; 0 asks for the one that was told of
// last. It is nil where it is over or was not told of since then.
func (d *DB) Underway(ctx context.Context, id int64, since time.Time) (*Live, error) {
	var l Live
	var at int64
	var state string
	err := d.with(ctx, func(db *sql.DB) error {
		return db.QueryRowContext(ctx, "SELECT id, at, model, target, state FROM live WHERE (?1 = 0 OR id = ?1) AND at >= ?2 ORDER BY at DESC, id DESC LIMIT 1", id, since.UnixMilli()).
			Scan(&l.ID, &at, &l.Model, &l.Target, &state)
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	}
	l.At, l.State = time.UnixMilli(at).UTC(), json.RawMessage(state)
	return &l, nil
}
