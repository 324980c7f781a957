package validate

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"github.com/ridgeline/ridgeline/internal/calib"
)

// MetricLatency is the metric of kernel tables.
const MetricLatency = "latency"

// scoredTable is one table's outcome.
type scoredTable struct {
	sample  rowSample
	far     []Scored // the farthestKept rows farthest off
	id      string   // path below the folder
	gpu     string
	kind    string
	rows    int
	ratios  []float64
	range80 covered
	unread  bool           // is among skipped as a whole
	skipped []Skipped      // rows and tables that make no sense
	misfits []Skipped      // rows that the GPU does not run
	lines   []operatorLine // with predictions wanted
}

// operatorLine is one prediction in the JSONL file, milliseconds.
type operatorLine struct {
	ID        string  `json:"id"`
	Measured  float64 `json:"measured"`
	Predicted float64 `json:"predicted"`
	// Range holds the measurement four times in five.
	Range [2]float64 `json:"range"`
}

// operatorWorkers read and price tables side by side.
const operatorWorkers = 2

// Operators predicts every row of the kernel tables below path and states the
// errors of their latency, a group per table. Rows that cannot be predicted and
// tables that cannot be read are skipped with their reason. predictions, if not
// nil, gets one JSON object per scored row: id, measured and predicted in
// milliseconds. A context that ends is an error, at once.
func Operators(ctx context.Context, path string, predictions io.Writer) (*Document, error) {
	tables, loops, err := OperatorTables(path)
	if err != nil {
		return nil, err
	}
	done := make([]chan *scoredTable, len(tables))
	for i := range done {
		done[i] = make(chan *scoredTable, 1)
	}
	for w := range operatorWorkers {
		go func() {
			for i := w; i < len(tables) && ctx.Err() == nil; i += operatorWorkers {
				done[i] <- scoreTable(tables[i], tableID(path, tables[i]), predictions != nil)
			}
		}()
	}
	d := &Document{Skipped: append([]Skipped{}, loops...), Predictions: []Scored{}, Groups: []Group{}, Metrics: map[string]Errors{}}
	d.Tables, d.Unread = len(loops), len(loops)
	var all []float64
	var misfits []Skipped
	var whole covered
	cuts := newCuts(CutGEMM, CutExperts, CutAttention, CutCollectives)
	out := bufio.NewWriter(io.Discard)
	if predictions != nil {
		out.Reset(predictions)
	}
	lines := json.NewEncoder(out)
	for i := range done {
		var t *scoredTable
		select {
		case t = <-done[i]:
		case <-ctx.Done(): // the tables in work end by themselves
			return nil, fmt.Errorf("interrupted: %d of %d tables were predicted: %w", i, len(tables), ctx.Err())
		}
		d.Rows += t.rows
		d.Tables++
		if t.unread {
			d.Unread++
		}
		d.Scored += len(t.ratios)
		d.Skipped, misfits = append(d.Skipped, t.skipped...), append(misfits, t.misfits...)
		d.Sample = append(d.Sample, t.sample.rows...)
		for _, x := range t.far {
			d.Farthest = keepFarthest(d.Farthest, x)
		}
		all = append(all, t.ratios...)
		cuts.add(operatorCuts[t.kind], t.ratios...)
		if len(t.ratios) > 0 {
			key := map[string]string{"gpu": t.gpu, "kind": t.kind, "table": t.id}
			g := Group{Key: key, Errors: errorsOf(t.ratios)}
			g.Coverage = t.range80.share()
			d.Groups = append(d.Groups, g)
			whole.merge(t.range80)
			if cut := operatorCuts[t.kind]; cut != "" {
				cuts.covered(cut).merge(t.range80)
			}
		}
		for k := range t.lines {
			if err := lines.Encode(&t.lines[k]); err != nil {
				return nil, err
			}
		}
	}
	d.Malformed = len(d.Skipped)
	d.Skipped = append(d.Skipped, misfits...)
	e := errorsOf(all)
	e.Coverage = whole.share()
	d.Metrics[MetricLatency], d.Cuts = e, cuts.groups()
	return d, out.Flush()
}

// tableID is the table's path below the folder, or the path as given.
func tableID(root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil && rel != "." {
		path = rel
	}
	return filepath.ToSlash(path)
}

func scoreTable(path, id string, keep bool) *scoredTable {
	t := &scoredTable{id: id}
	var err error
	t.gpu, t.kind, err = calib.Score(path, func(s *calib.Scored) {
		t.rows++
		switch {
		case s.Misfit:
			t.misfits = append(t.misfits, Skipped{rowID(id, s.Row), s.Reason})
			return
		case s.Reason != "":
			t.skipped = append(t.skipped, Skipped{rowID(id, s.Row), s.Reason})
			return
		}
		t.ratios = append(t.ratios, s.Predicted/s.Measured)
		row := Scored{ID: rowID(id, s.Row), Measured: 1e3 * s.Measured, Predicted: 1e3 * s.Predicted}
		t.sample.add(row)
		t.far = keepFarthest(t.far, row)
		t.range80.add(s.Measured, s.Low, s.High)
		if keep {
			t.lines = append(t.lines, operatorLine{rowID(id, s.Row), 1e3 * s.Measured, 1e3 * s.Predicted, [2]float64{1e3 * s.Low, 1e3 * s.High}})
		}
	})
	if err != nil {
		t.unread = true
		t.skipped = append(t.skipped, Skipped{id, oneLine(err)})
	}
	for _, rows := range [][]Scored{t.sample.rows, t.far} {
		for i := range rows {
			rows[i].GPU, rows[i].Model = t.gpu, t.kind
		}
	}
	return t
}

// farthestKept is how many rows of kernel tables are kept for being farthest off.
const farthestKept = 10

// keepFarthest puts a row among the farthest off, if it is one.
func keepFarthest(list []Scored, s Scored) []Scored {
	if len(list) == farthestKept && !farther(&s, &list[farthestKept-1]) {
		return list
	}
	at := len(list)
	for at > 0 && farther(&s, &list[at-1]) {
		at--
	}
	list = slices.Insert(list, at, s)
	return list[:min(len(list), farthestKept)]
}

// farther compares rows by |ln(predicted/measured)|.
func farther(a, b *Scored) bool {
	return math.Abs(math.Log(a.Ratio())) > math.Abs(math.Log(b.Ratio()))
}

// rowSample keeps rows at equal distances, between sampleRows/2 and sampleRows of many.
type rowSample struct {
	rows       []Scored
	seen, each int // every each-th is kept
}

const sampleRows = 64

func (s *rowSample) add(x Scored) {
	s.each = max(s.each, 1)
	if s.seen%s.each == 0 {
		s.rows = append(s.rows, x)
	}
	s.seen++
	if len(s.rows) < sampleRows {
		return
	}
	for i := range sampleRows / 2 {
		s.rows[i] = s.rows[2*i]
	}
	s.rows, s.each = s.rows[:sampleRows/2], 2*s.each
}

// rowID is the id of a table's row, counted from 0.
func rowID(table string, row int) string { return fmt.Sprintf("%s#%d", table, row) }
