package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ridgeline/ridgeline/internal/input"
)

// Kind is what a run is.
type Kind string

// The kinds.
const (
	Bench      Kind = "bench"
	Prediction Kind = "prediction"
	Simulation Kind = "simulation"
	Probe      Kind = "probe"
	Validation Kind = "validation"
)

// Kinds are all of them.
var Kinds = []Kind{Bench, Prediction, Simulation, Probe, Validation}

// Run is one kept run.
type Run struct {
	ID       int64
	Kind     Kind
	Name     string // that its user gave it, may be empty
	At       time.Time
	Model    string
	Target   string // the service's URL, or the cluster
	Source   string // the tool that made it
	Summary  string // in one line
	Document json.RawMessage
	Samples  []Sample // of a measurement: what comparisons draw from
}

// Sample is one metric of the requests of one stage.
type Sample struct {
	Stage  int
	Metric string
	Values []float32 // ms
}

// ErrNone says that there is no such run.
var ErrNone = errors.New("no such run: `ridgeline runs list` shows those that are kept")

// Add keeps a run and returns its id. Keys and names in the URL of its target, and of its
// document, are taken out of it first.
func (d *DB) Add(ctx context.Context, r *Run) (id int64, err error) {
	if err := CheckName(r.Name); err != nil {
		return 0, err
	}
	if !json.Valid(r.Document) {
		return 0, errors.New("the document is no JSON")
	}
	if err := r.dropSecrets(); err != nil {
		return 0, err
	}
	document, err := deflate(r.Document)
	if err != nil {
		return 0, err
	}
	err = d.with(ctx, func(db *sql.DB) error {
		id, err = insert(ctx, db, r, document)
		return err
	})
	return id, err
}

// dropSecrets leaves the address alone of a URL with a name, key or query, which this
// program writes nowhere: a document that was changed by hand or comes from elsewhere.
func (r *Run) dropSecrets() error {
	clean := input.WithoutSecrets(r.Target)
	if clean == r.Target {
		return nil
	}
	r.Target = clean
	var d map[string]json.RawMessage
	if json.Unmarshal(r.Document, &d) != nil || d["url"] == nil {
		return nil // no document of a service
	}
	var err error
	if d["url"], err = json.Marshal(clean); err == nil {
		r.Document, err = json.Marshal(d)
	}
	return err
}

// insert writes a run and its samples, all or nothing.
func insert(ctx context.Context, db *sql.DB, r *Run, document []byte) (id int64, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() // nothing after a commit
	res, err := tx.ExecContext(ctx, "INSERT INTO runs (kind, name, at, model, target, source, summary, document) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		r.Kind, r.Name, r.At.UnixMilli(), r.Model, r.Target, r.Source, r.Summary, document)
	if err != nil {
		return 0, err
	}
	if id, err = res.LastInsertId(); err != nil {
		return 0, err
	}
	for _, s := range r.Samples {
		values, err := deflate(encode(s.Values))
		if err != nil {
			return 0, err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO samples (run, stage, metric, vals) VALUES (?, ?, ?, ?)", id, s.Stage, s.Metric, values); err != nil {
			return 0, err
		}
	}
	return id, tx.Commit()
}

const columns = "id, kind, name, at, model, target, source, summary"

// row reads columns.
func row(scan func(...any) error, also ...any) (*Run, error) {
	var r Run
	var at int64
	err := scan(append([]any{&r.ID, &r.Kind, &r.Name, &at, &r.Model, &r.Target, &r.Source, &r.Summary}, also...)...)
	r.At = time.UnixMilli(at).UTC()
	return &r, err
}

// Filter chooses runs; "" is any.
type Filter struct {
	Kind        Kind
	Model, Name string // that the run's contains, in any case
	Most        int    // 0 = all
}

// List is the runs, the latest first, without documents.
func (d *DB) List(ctx context.Context, f Filter) (list []*Run, err error) {
	most := f.Most
	if most == 0 {
		most = -1
	}
	err = d.with(ctx, func(db *sql.DB) error {
		rows, err := db.QueryContext(ctx, "SELECT "+columns+" FROM runs WHERE (?1 = '' OR kind = ?1) AND instr(lower(model), lower(?2)) > 0 AND instr(lower(name), lower(?3)) > 0 ORDER BY id DESC LIMIT ?4",
			f.Kind, f.Model, f.Name, most)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			r, err := row(rows.Scan)
			if err != nil {
				return err
			}
			list = append(list, r)
		}
		return rows.Err()
	})
	return list, err
}

// ago is how many runs before the last one a word such as last~1 means.
func ago(word string) (n int64, ok bool) {
	back, ok := strings.CutPrefix(word, "last")
	if !ok || back == "" {
		return 0, ok
	}
	u, err := strconv.ParseUint(strings.TrimPrefix(back, "~"), 10, 31)
	return int64(u), err == nil && back[0] == '~'
}

// CheckName refuses a name that Find would read as something else; "" is no name.
func CheckName(name string) error {
	_, err := strconv.ParseInt(name, 10, 64)
	if _, back := ago(name); back || err == nil {
		return fmt.Errorf("%q means a run by its number or age: choose another name", name)
	}
	if strings.ContainsFunc(name, unicode.IsControl) || !utf8.ValidString(name) {
		return fmt.Errorf("%q holds control characters: give a plain name", name)
	}
	return nil
}

// Find is the run that a word names: an id, `last`, `last~1` (the one before), or the
// name that its user gave it, of several runs the latest.
// With ErrDamaged it returns what can be read, which is the head at least.
func (d *DB) Find(ctx context.Context, word string) (r *Run, err error) {
	err = d.with(ctx, func(db *sql.DB) error {
		r, err = find(ctx, db, word)
		return err
	})
	return r, err
}

func find(ctx context.Context, db *sql.DB, word string) (*Run, error) {
	where, arg := "name = ? ORDER BY id DESC LIMIT 1", any(word)
	if id, err := strconv.ParseInt(word, 10, 64); err == nil {
		where, arg = "id = ?", id
	} else if n, ok := ago(word); ok {
		where, arg = "1 ORDER BY id DESC LIMIT 1 OFFSET ?", n
	}
	var document []byte
	r, err := row(db.QueryRowContext(ctx, "SELECT "+columns+", document FROM runs WHERE "+where, arg).Scan, &document)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("%q: %w", word, ErrNone)
	case err != nil:
		return nil, err
	}
	if r.Document, err = inflate(document); err != nil {
		return r, damaged(r.ID)
	}
	return r, samples(ctx, db, r)
}

// samples reads those of a run.
func samples(ctx context.Context, db *sql.DB, r *Run) error {
	rows, err := db.QueryContext(ctx, "SELECT stage, metric, vals FROM samples WHERE run = ? ORDER BY stage, metric", r.ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var s Sample
		var values []byte
		if err := rows.Scan(&s.Stage, &s.Metric, &values); err != nil {
			return err
		}
		plain, err := inflate(values)
		if err == nil {
			s.Values, err = decode(plain)
		}
		if err != nil {
			return damaged(r.ID)
		}
		r.Samples = append(r.Samples, s)
	}
	return rows.Err()
}

// Delete removes runs, all or none.
func (d *DB) Delete(ctx context.Context, ids ...int64) error {
	return d.with(ctx, func(db *sql.DB) error { return remove(ctx, db, ids) })
}

func remove(ctx context.Context, db *sql.DB, ids []int64) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // nothing after a commit
	for _, id := range ids {
		res, err := tx.ExecContext(ctx, "DELETE FROM runs WHERE id = ?", id)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, fmt.Errorf("%d: %w", id, ErrNone))
		}
	}
	return tx.Commit()
}

// ErrDamaged is the error of a run whose bytes in the file were changed.
var ErrDamaged = errors.New("is damaged")

func damaged(id int64) error {
	return fmt.Errorf("run %d %w: `ridgeline runs delete %d` takes it away", id, ErrDamaged, id)
}
