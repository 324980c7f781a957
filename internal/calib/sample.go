package calib

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// sample is one measured row: the operations that its time holds, and how much
// the engine's own work around them has to handle.
type sample struct {
	ops      []work.Op
	block    bool    // the operations are those of a whole block
	module   int     // of that kind, see hw.Module
	rows     float64 // of the activations
	elements float64 // of the activations
	passes   unit.Bytes
	seconds  float64
	ways     [2]float64 // seconds of an exchange's two ways, together seconds
	weight   float64
}

// engine holds an engine's overhead as a search turns it: us, ns, ps, passes, us.
type engine struct {
	name                                    string
	fixed, perRow, perElement, passes, host float64
}

func (e *engine) overhead(what string) hw.Overhead {
	return hw.Overhead{
		Engine: e.name, What: what, Fixed: unit.Seconds(e.fixed * 1e-6), PerRow: unit.Seconds(e.perRow * 1e-9),
		PerElement: unit.Seconds(e.perElement * 1e-12), Passes: e.passes, Host: unit.Seconds(e.host * 1e-6),
	}
}

// source is one table as a fit sees it.
type source struct {
	gpu, table string
	engine     *engine
	cluster    *hw.Cluster
	options    cost.Options
	fit, test  []sample // disjoint
}

// problem is one search: the tables, the constants and what to turn.
type problem struct {
	ctx     context.Context // of the call that fits; ends it early
	what    string
	sources []*source
	kernels *hw.Kernels
	knobs   []knob
	refresh func() // writes knobs that are not constants themselves into kernels
}

// each calls f with the prediction of every sample.
func (p *problem) each(held bool, f func(s *source, x *sample, predicted float64)) error {
	if p.refresh != nil {
		p.refresh()
	}
	for _, s := range p.sources {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		s.cluster.Device.Kernels = p.kernels
		m, err := cost.New(s.cluster, s.options)
		if err != nil {
			return err
		}
		list := s.fit
		if held {
			list = s.test
		}
		for i := range list {
			f(s, &list[i], predict(m, s.engine, &list[i]))
		}
	}
	return nil
}

// predict is the time of a sample in seconds.
func predict(m *cost.Machine, e *engine, x *sample) float64 {
	t := 0.0
	for i := range x.ops {
		if op := &x.ops[i]; op.Kind == work.Collective {
			t += float64(m.Collective(&op.Comm).Estimate)
		} else {
			t += float64(m.Op(op).Estimate)
		}
	}
	if x.block {
		module := m.Module(x.module)
		t = max(t+float64(module.Rest), float64(module.Host))
	}
	if e == nil {
		return t
	}
	t += e.fixed*1e-6 + e.perRow*1e-9*x.rows + e.perElement*1e-12*x.elements
	t += e.passes * float64(x.passes.Over(m.HBMRate()))
	return max(t, e.host*1e-6)
}

// solve turns the knobs from every start until the weighted mean of
// |ln(predicted/measured)| is smallest, keeps the best end, and returns the error on
// the rows kept out of the fit.
func (p *problem) solve(n int, begin func(i int)) (hw.Fit, []TableError, error) {
	var failed error
	loss := func() float64 {
		sum, weight := 0.0, 0.0
		err := p.each(false, func(_ *source, x *sample, predicted float64) {
			sum += x.weight * math.Abs(math.Log(predicted/x.seconds))
			weight += x.weight
		})
		if err != nil {
			failed = err
		}
		return sum / weight
	}
	var best struct {
		start  int
		loss   float64
		values []float64
	}
	for i := range n {
		begin(i)
		if l := descend(p.knobs, loss); i == 0 || l < best.loss {
			best.start, best.loss, best.values = i, l, nil
			for _, k := range p.knobs {
				best.values = append(best.values, *k.value)
			}
		}
	}
	if failed != nil {
		return hw.Fit{}, nil, failed
	}
	begin(best.start)
	for i, k := range p.knobs {
		*k.value = best.values[i]
	}
	return p.score()
}

// explained refuses constants that do not account for the rows kept out of their fit, or that too few rows
// settle.
func (p *problem) explained(fit *hw.Fit) error {
	held := 0
	for _, s := range p.sources {
		held += len(s.test)
	}
	from := strings.Join(fit.Tables, ", ")
	switch {
	case fit.Rows < len(p.knobs) || held == 0:
		return fmt.Errorf("%s gives %d rows to fit %d constants to and %d to test them on (a table is thinned): add rows, or take it out; nothing is written", from, fit.Rows, len(p.knobs), held)
	case !(fit.Median <= Unexplained):
		ends := 0
		for _, k := range p.knobs {
			if *k.value <= k.low || *k.value >= k.top {
				ends++
			}
		}
		return fmt.Errorf("%s cannot be explained: on %d rows kept out of the fit the best constants are off by %.1f %% on the median, more than %.0f %%, and %d of %d lie at an end of their range: correct its latency (milliseconds) and shapes, or take it out; nothing is written",
			from, held, 100*fit.Median, 100*Unexplained, ends, len(p.knobs))
	}
	return nil
}

// score measures the constants on the held-out rows, per table and together.
func (p *problem) score() (hw.Fit, []TableError, error) {
	fit := hw.Fit{What: p.what}
	var all errorsOf
	var tables []TableError
	per, large := map[*source]*errorsOf{}, map[*source]*errorsOf{}
	for _, s := range p.sources {
		per[s], large[s] = &errorsOf{}, &errorsOf{}
		fit.Tables = append(fit.Tables, s.gpu+"/"+s.table)
		fit.Rows += len(s.fit)
	}
	err := p.each(true, func(s *source, x *sample, predicted float64) {
		all.add(predicted, x.seconds)
		per[s].add(predicted, x.seconds)
		if x.weight > 1 {
			large[s].add(predicted, x.seconds)
		}
	})
	for _, s := range p.sources {
		tables = append(tables, per[s].table(s, p.what))
		if len(large[s].list) > 0 {
			tables = append(tables, large[s].table(s, p.what+" large"))
		}
	}
	fit.Median, fit.Mean = round(all.median()), round(all.mean())
	return fit, tables, err
}
