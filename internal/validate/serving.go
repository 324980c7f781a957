package validate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// The metrics of serving runs.
const (
	MetricTPOT = "tpot"
	MetricTTFT = "ttft"
)

// servingGroups are the cuts that a serving document states errors by.
var servingGroups = []string{"model", "gpu", "engine", "layout", "concurrency"}

// Serving predicts every run and states the errors of TPOT and TTFT: a group per
// value of each cut (model, GPU, engine, layout, concurrency) and one per set-up
// (model, GPU, engine and weights). bad are rows that could not be read; they
// count as skipped. Times in the document are milliseconds. A context that ends leaves the
// remaining runs out: Scored and Skipped then count fewer than Rows.
func Serving(ctx context.Context, runs []ServingRun, bad []Skipped, p *ServingPredictor) *Document {
	d := &Document{Rows: len(runs) + len(bad), Skipped: append([]Skipped{}, bad...), Predictions: []Scored{}, Groups: []Group{}, Metrics: map[string]Errors{}}
	var all timeRatios
	groups := map[string]*timeGroup{}
	var misfits []Skipped
	engines := map[string]int{}
	for i := range runs {
		if ctx.Err() != nil {
			break
		}
		r := &runs[i]
		x, err := p.Predict(r)
		if err == nil {
			err = r.checkMeasured(x)
		}
		if isWrong(err) {
			d.Skipped = append(d.Skipped, Skipped{r.ID, oneLine(err)})
			continue
		}
		if err != nil {
			misfits = append(misfits, Skipped{r.ID, oneLine(err)})
			continue
		}
		engines[r.Engine]++
		s := scoredServing(r, x)
		d.Predictions = append(d.Predictions, s)
		all.add(&s)
		for _, key := range r.keys() {
			name := groupName(key)
			if groups[name] == nil {
				groups[name] = &timeGroup{key: key}
			}
			groups[name].add(&s)
		}
	}
	d.Malformed = len(d.Skipped)
	d.Skipped = append(d.Skipped, misfits...)
	d.Scored = len(d.Predictions)
	d.Metrics[MetricTPOT], d.Metrics[MetricTTFT] = all.errors()
	d.Notes = append(unitNotes(d.Metrics), unprofiled(engines)...)
	d.timeGroups(groups)
	return d
}

// unitSlip bounds median ratios of predicted over measured times that tell of a wrong unit:
// half a thousand to twice as much, or the same below 1.
const unitSlip = 2

// unitNotes ask after the unit of a column whose values lie a thousandfold off.
func unitNotes(metrics map[string]Errors) (notes []string) {
	for _, m := range []string{MetricTPOT, MetricTTFT} {
		e := metrics[m]
		for _, x := range []struct {
			ratio float64
			unit  string
		}{{e.Bias + 1, "seconds"}, {1 / (e.Bias + 1), "microseconds"}} {
			if e.N > 0 && x.ratio > 1000/unitSlip && x.ratio < 1000*unitSlip {
				notes = append(notes, fmt.Sprintf("half of the values of %s_ms are %.0f times off: %s in a column of milliseconds?", m, x.ratio, x.unit))
			}
		}
	}
	return notes
}

// stampSlip bounds how many times slower than predicted the median request is whose stamps are of a
// smaller unit: stamps a thousandfold apart also replay as a load that never queues. Geometric middle of 1e3 and 1e6.
const stampSlip = 31623

// stampNotes ask after the unit of requests' stamps, by the times per token.
func stampNotes(tpot *pairs) []string {
	unit, slower := "", 1/(tpot.errors().Bias+1)
	switch {
	case len(tpot.measured) == 0 || slower < 1000/unitSlip:
		return nil
	case slower < stampSlip:
		unit = "milliseconds"
	default:
		unit = "microseconds"
	}
	return []string{fmt.Sprintf("Half of the requests took %.0f times as long per token as predicted, or longer: stamps in %s, in place of seconds?", slower, unit)}
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// timeRatios are predicted/measured values.
type timeRatios struct {
	tpot, ttft     []float64
	tpotIn, ttftIn covered
}

func (t *timeRatios) add(s *Scored) {
	t.tpot = append(t.tpot, s.Ratio())
	t.tpotIn.within(s.Measured, s.Range)
	if s.TTFTMeasured != nil {
		t.ttft = append(t.ttft, *s.TTFTPredicted / *s.TTFTMeasured)
		t.ttftIn.within(*s.TTFTMeasured, s.TTFTRange)
	}
}

// errors sums both up, each with the coverage of its ranges.
func (t *timeRatios) errors() (tpot, ttft Errors) {
	tpot, ttft = errorsOf(t.tpot), errorsOf(t.ttft)
	tpot.Coverage, ttft.Coverage = t.tpotIn.share(), t.ttftIn.share()
	return tpot, ttft
}

type timeGroup struct {
	key map[string]string
	timeRatios
}

// keys are the groups a run belongs to.
func (r *ServingRun) keys() []map[string]string {
	all := map[string]string{"model": r.Model, "gpu": r.GPU, "engine": r.Engine, "layout": r.layout(), "concurrency": strconv.Itoa(r.Concurrency)}
	var list []map[string]string
	for _, k := range servingGroups {
		list = append(list, map[string]string{k: all[k]})
	}
	return append(list, map[string]string{"model": r.Model, "gpu": r.GPU, "engine": r.Engine, "weights": r.Weights})
}

// layoutColumns are those that hold the run's degrees.
func (r *ServingRun) layoutColumns() []string {
	if r.Split != nil {
		return splitColumns
	}
	return []string{"tp", "pp", "dp", "ep"}
}

// layout is the plan without its replicas.
func (r *ServingRun) layout() string {
	if r.Split != nil {
		return r.Split.String()
	}
	x := r.Plan
	x.Replicas = 1
	return x.String()
}

// groupName orders groups: single cuts first, in the order of servingGroups, numbers
// by value.
func groupName(key map[string]string) string {
	var b strings.Builder
	b.WriteByte(byte('0' + len(key)))
	for i, k := range append(slices.Clone(servingGroups), "weights") {
		if v, ok := key[k]; ok {
			b.WriteByte(byte('a' + i))
			if n := 12 - len(v); k == "concurrency" && n > 0 {
				b.WriteString(strings.Repeat(" ", n))
			}
			b.WriteString(v + "\x00")
		}
	}
	return b.String()
}

func (d *Document) timeGroups(groups map[string]*timeGroup) {
	names := make([]string, 0, len(groups))
	for n := range groups {
		names = append(names, n)
	}
	slices.SortFunc(names, cmp.Compare[string])
	for _, n := range names {
		tpot, ttft := groups[n].errors()
		g := Group{Key: groups[n].key, Errors: tpot}
		if ttft.N > 0 {
			g.TTFT = &ttft
		}
		d.Groups = append(d.Groups, g)
	}
}

// scoredServing is a run's prediction in the table's milliseconds.
func scoredServing(r *ServingRun, x *ServingPrediction) Scored {
	s := Scored{ID: r.ID, Measured: r.TPOT, Predicted: 1e3 * float64(x.TPOT), Model: r.Model, GPU: r.GPU, Plan: r.layout(), Engine: r.Engine}
	s.Range = milliseconds(x.Ranges.TPOT.Of(x.TPOT, x.Floor))
	if r.TTFT > 0 {
		measured, predicted := r.TTFT, 1e3*float64(x.TTFT)
		s.TTFTMeasured, s.TTFTPredicted = &measured, &predicted
		if x.Tails {
			s.TTFTRange = milliseconds(x.Ranges.TTFT.Of(x.TTFT, 0))
		}
	}
	return s
}

func milliseconds(r [2]unit.Seconds) *[2]float64 {
	return &[2]float64{1e3 * float64(r[0]), 1e3 * float64(r[1])}
}
