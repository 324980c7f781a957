package validate

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/input"
	"github.com/ridgeline/ridgeline/internal/serve"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// MetricE2E is the time from a request's arrival to its last token.
const MetricE2E = "e2e"

// Stamps is a measured request's times, seconds on one clock.
type Stamps struct {
	ID     string
	Output int
	TTFT   float64 // from the engine having the request to its first token
	E2E    float64 // to its last token
	Bad    string  // what is wrong with the times; such a request is replayed, and not scored
}

// mostStamp bounds a stamp, seconds on either side of 0: Unix time reaches it in 2286, and
// there a float64 still tells 2 us apart. Stamps beyond are of another unit (today is 1.8e12 ms).
const mostStamp = 1e10

// check says what is wrong with the times of line n; "" = nothing. Durations have the
// bounds of a table's.
func (s *Stamps) check(n int, queued, first, last float64) string {
	for _, k := range []struct {
		key string
		v   float64
	}{{"queued_ts", queued}, {"first_token_ts", first}, {"last_token_ts", last}} {
		if !(math.Abs(k.v) <= mostStamp) {
			return fmt.Sprintf("line %d: %s is %g: give seconds up to %g", n, k.key, k.v, mostStamp)
		}
	}
	if !(s.TTFT > 0 && s.E2E >= s.TTFT) || s.Output < 1 || s.Output > 1 && s.E2E == s.TTFT {
		return fmt.Sprintf("line %d: times of %d tokens run queued_ts < first_token_ts <= last_token_ts: correct them", n, s.Output)
	}
	least := s.TTFT
	if t, ok := s.TPOT(); ok {
		least = min(least, t)
	}
	if 1e3*least < leastMeasured || 1e3*s.E2E > mostMeasured {
		return fmt.Sprintf("line %d: first_token_ts and last_token_ts make times of %g to %g ms: give times from %g to %g ms", n, 1e3*least, 1e3*s.E2E, leastMeasured, mostMeasured)
	}
	return ""
}

// withinContext notes what is wrong with a request longer than the context of its deployment, tokens; 0 = no limit.
func (s *Stamps) withinContext(q *workload.Request, context int) {
	if s.Bad == "" && context > 0 && q.Input+q.Output > context {
		s.Bad = fmt.Sprintf("line %d: input_toks and output_toks make %d + %d tokens, and max_model_len, or else the model's context, is %d: correct one of them", q.Line, q.Input, q.Output, context)
	}
}

// TPOT is the mean time of a token after the first; ok is false for one token.
func (s *Stamps) TPOT() (t float64, ok bool) {
	if s.Output < 2 {
		return 0, false
	}
	return (s.E2E - s.TTFT) / float64(s.Output-1), true
}

// maxLine bounds a line of measured requests in bytes.
const maxLine = 1 << 20

// maxStamps bounds a file of measured requests: a million of them take some 200 MB.
const maxStamps = 1 << 30

// ReadStamps reads JSON lines with request_id, output_toks, queued_ts,
// first_token_ts and last_token_ts (seconds). A line that is not understood is an error
// of one line that names it: without its arrival the run cannot be replayed. A request whose times
// run backwards is kept and says so.
func ReadStamps(r io.Reader, name string) ([]Stamps, error) {
	var all []Stamps
	text, err := input.Text(r, maxStamps)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	lineOf := map[string]int{} // by id
	in := bufio.NewScanner(text)
	in.Buffer(nil, maxLine)
	n := 1
	for ; in.Scan(); n++ {
		if len(in.Bytes()) == 0 {
			continue
		}
		var l struct {
			ID     string   `json:"request_id"`
			Output *int     `json:"output_toks"`
			Queued *float64 `json:"queued_ts"`
			First  *float64 `json:"first_token_ts"`
			Last   *float64 `json:"last_token_ts"`
		}
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w: %s", name, n, err, oneObject)
		}
		if _, err := membersOf(in.Bytes()); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, n, err)
		}
		if l.Output == nil || l.Queued == nil || l.First == nil || l.Last == nil {
			return nil, fmt.Errorf("%s: line %d: output_toks, queued_ts, first_token_ts and last_token_ts are needed: add them", name, n)
		}
		s := Stamps{ID: l.ID, Output: *l.Output, TTFT: *l.First - *l.Queued, E2E: *l.Last - *l.Queued}
		s.Bad = s.check(n, *l.Queued, *l.First, *l.Last)
		if s.ID == "" {
			s.ID = fmt.Sprintf("line %d", n)
		}
		if before := lineOf[s.ID]; before == 0 {
			lineOf[s.ID] = n
		} else if s.Bad == "" {
			s.Bad = fmt.Sprintf("line %d: request_id %q stands on line %d too: give each request its own", n, s.ID, before)
		}
		all = append(all, s)
	}
	switch err := in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s: line %d: longer than %d MiB: %s", name, n, maxLine>>20, oneObject)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(all) == 0:
		return nil, fmt.Errorf("%s: the file holds no requests: %s", name, oneObject)
	}
	return all, nil
}

// RequestsConfigPath is the file of the deployment beside a file of requests.
func RequestsConfigPath(requests string) string {
	return strings.TrimSuffix(requests, ".jsonl") + ".config.json"
}

// RequestsFile scores a measured run from its file, JSON lines in order of arrival,
// and the deployment in the file of the same name with .config.json.
func RequestsFile(ctx context.Context, path string, p *ServingPredictor) (*Document, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return nil, fmt.Errorf("%s: a folder: name one FILE.jsonl of it", path)
	}
	load, err := workload.Open(path)
	if err != nil {
		return nil, err
	}
	f, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	measured, err := ReadStamps(f, path)
	if err != nil {
		return nil, err
	}
	beside := RequestsConfigPath(path)
	g, err := input.Open(beside)
	if err != nil {
		return nil, fmt.Errorf("the deployment of the run: %w: put it beside the requests", err)
	}
	defer g.Close()
	c, err := ReadRequestsConfig(g, beside)
	if err != nil {
		return nil, err
	}
	d, err := Requests(ctx, load, measured, c, p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", beside, err)
	}
	if l := leftOutRequests(strings.TrimSuffix(filepath.Base(path), ".jsonl"), d.Rows); l != nil {
		d.Notes = append(d.Notes, l.note())
	}
	return d, nil
}

// Requests replays the arrivals and lengths of a measured run on the simulated
// deployment and states the errors of TTFT, TPOT and E2E, request by request and of
// the distributions. load and measured are two readings of one file.
func Requests(ctx context.Context, load *workload.Workload, measured []Stamps, c *RequestsConfig, p *ServingPredictor) (*Document, error) {
	e, err := c.engine(p)
	if err != nil {
		return nil, err
	}
	r, err := serve.Replay(ctx, e, load)
	if err != nil {
		return nil, err
	}
	if len(r.Records) != len(measured) {
		return nil, fmt.Errorf("%d requests were replayed and %d measured: give one line for each", len(r.Records), len(measured))
	}
	d := &Document{Rows: len(measured), Notes: append(c.notes(), unprofiled(map[string]int{c.run().Engine: len(measured)})...), Skipped: []Skipped{}, Predictions: []Scored{}, Groups: []Group{}, Metrics: map[string]Errors{}}
	var ttft, tpot, e2e pairs
	for i := range measured {
		m, x := &measured[i], &r.Records[i]
		m.withinContext(&load.Requests[i], e.MaxContext)
		if m.Bad != "" {
			d.Skipped = slices.Insert(d.Skipped, d.Malformed, Skipped{printable(m.ID), m.Bad})
			d.Malformed++
			continue
		}
		first, ok := x.TTFT()
		end, done := x.E2E()
		if !ok || !done {
			d.Skipped = append(d.Skipped, Skipped{m.ID, "not answered in the simulation: " + x.Reason})
			continue
		}
		ttft.add(m.TTFT, first.Seconds())
		e2e.add(m.E2E, end.Seconds())
		s := Scored{ID: m.ID, Measured: 1e3 * m.E2E, Predicted: 1e3 * end.Seconds(), Model: c.Model, GPU: c.GPU, Engine: c.Engine, Plan: c.run().Plan.String()}
		firsts := [2]float64{1e3 * m.TTFT, 1e3 * first.Seconds()}
		s.TTFTMeasured, s.TTFTPredicted = &firsts[0], &firsts[1]
		if t, ok := m.TPOT(); ok {
			each, _ := x.TPOT()
			tpot.add(t, each.Seconds())
			s.Measured, s.Predicted = 1e3*t, 1e3*each.Seconds()
		}
		d.Predictions = append(d.Predictions, s)
	}
	d.Scored = len(d.Predictions)
	d.Notes = append(d.Notes, stampNotes(&tpot)...)
	d.Metrics[MetricTTFT], d.Metrics[MetricTPOT], d.Metrics[MetricE2E] = ttft.errors(), tpot.errors(), e2e.errors()
	return d, nil
}
