package advise

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/train"
)

// BatchKnob turns the global batch where a Knob turns a rate.
const BatchKnob = NumKnobs

// knobWords are the knobs as users write them.
var knobWords = [NumKnobs + 1]string{"network", "scale-up", "links", "hbm", "matrix", "batch"}

// KnobWords are the names that ParseKnob takes.
func KnobWords() []string { return slices.Clone(knobWords[:]) }

// ParseKnob reads a knob's name; ok is false for an unknown one.
func ParseKnob(word string) (k Knob, ok bool) {
	i := slices.Index(knobWords[:], word)
	return Knob(max(i, 0)), i >= 0
}

// Word is the knob as ParseKnob reads it.
func (k Knob) Word() string { return knobWords[k] }

// Sweep is how a few plans fare while one figure is turned, and where the verdict
// flips: which of them is fastest, or what binds it.
type Sweep struct {
	Knob   Knob
	Unit   string
	Now    float64 // SI, or sequences of the batch
	Plans  []plan.Plan
	Points []SweepPoint
	Flips  []SweepFlip
}

// SweepPoint is the plans at one value; Results is nil for a plan that is not
// legal there.
type SweepPoint struct {
	Value   float64
	Results []*train.Result
	Best    int // index into Results: the fastest that fits, -1 where none does
}

// SweepFlip is a change between two neighbouring values of the sweep.
type SweepFlip struct {
	Low, High  float64
	Was, Is    int // index of the best plan, -1 for none
	From, To   train.Bound
	Crossing   float64 // the value where the times of the two plans meet, 0 where only the bound changes
	SameWinner bool
}

// Steps of a sweep, from 1/span to span times today's value in even ratios.
const (
	sweepSpan  = 16
	sweepSteps = 4 // per doubling
)

// Sweep evaluates plans at values of the knob around today's. Plans are taken as
// they are: the question whether a plan outside the list would do better there is
// a search's. A batch is taken to the nearest multiple of what divides over ranks.
func (q *Question) Sweep(ctx context.Context, plans []plan.Plan, k Knob) (*Sweep, error) {
	if len(plans) == 0 {
		return nil, fmt.Errorf("a sweep needs a plan: name at least one")
	}
	e, err := q.Evaluator()
	if err != nil {
		return nil, err
	}
	s := &Sweep{Knob: k, Unit: "B/s", Plans: plans}
	switch k {
	case BatchKnob:
		s.Unit, s.Now = "sequences", float64(q.Job.GlobalBatch)
	case Matrix:
		s.Unit, s.Now = "FLOP/s", k.value(e, q.Precision.GEMM)
	case Links:
		s.Unit, s.Now = "times today's", 1
	default:
		s.Now = k.value(e, q.Precision.GEMM)
	}
	if s.Now <= 0 || math.IsInf(s.Now, 0) {
		return nil, fmt.Errorf("the cluster has no %s to turn: name another figure", k)
	}
	n := int(math.Log2(sweepSpan)) * sweepSteps
	for i := -n; i <= n; i++ {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p, err := q.sweepAt(e, plans, k, math.Exp2(float64(i)/sweepSteps))
		if err != nil {
			return nil, err
		}
		if p != nil && (len(s.Points) == 0 || p.Value > s.Points[len(s.Points)-1].Value) {
			s.Points = append(s.Points, *p)
		}
	}
	s.flips()
	return s, nil
}

// sweepAt is one value; nil where no plan is legal, as a batch that is too small.
func (q *Question) sweepAt(e *train.Evaluator, plans []plan.Plan, k Knob, by float64) (*SweepPoint, error) {
	x := &SweepPoint{Best: -1, Results: make([]*train.Result, len(plans))}
	job := q.Job
	if k == BatchKnob {
		j := *q.Job
		j.GlobalBatch, j.Idle = nearestBatch(plans, float64(q.Job.GlobalBatch)*by), 0
		job, x.Value = &j, float64(j.GlobalBatch)
		asked := q.with(func(q *Question) { q.Job = job })
		var err error
		if e, err = asked.Evaluator(); err != nil {
			return nil, err
		}
	} else {
		x.Value = k.value(e, q.Precision.GEMM) * by
		if k == Links {
			x.Value = by
		}
		var err error
		if e, err = e.On(Turn(q.Cluster, k, by)); err != nil {
			return nil, err
		}
	}
	legal := false
	for i := range plans {
		p := plans[i]
		if p.Check(job) != plan.Legal {
			continue
		}
		legal = true
		r, err := e.Evaluate(&p)
		if err != nil {
			return nil, err
		}
		x.Results[i] = r
		if r.Fits && (x.Best < 0 || r.TokensPerSecondPerGPU() > x.Results[x.Best].TokensPerSecondPerGPU()) {
			x.Best = i
		}
	}
	if !legal {
		return nil, nil
	}
	return x, nil
}

// nearestBatch is the multiple of what the first plan's ranks take at once that
// lies nearest to want, at least one.
func nearestBatch(plans []plan.Plan, want float64) int {
	unit := plans[0].DP * plans[0].MicroBatch
	return max(1, int(math.Round(want/float64(unit)))) * unit
}

// flips compares neighbours.
func (s *Sweep) flips() {
	for i := 1; i < len(s.Points); i++ {
		a, b := &s.Points[i-1], &s.Points[i]
		f := SweepFlip{Low: a.Value, High: b.Value, Was: a.Best, Is: b.Best, From: a.bound(), To: b.bound(), SameWinner: a.Best == b.Best}
		if f.SameWinner && f.From == f.To {
			continue
		}
		if !f.SameWinner && a.Best >= 0 && b.Best >= 0 {
			f.Crossing = crossing(a, b)
		}
		s.Flips = append(s.Flips, f)
	}
}

func (x *SweepPoint) bound() train.Bound {
	if x.Best < 0 {
		return ""
	}
	return x.Results[x.Best].Bound
}

// crossing is where the throughputs of two winners meet between two values,
// straight lines over the logarithm of the value; 0 where one is not known at both.
func crossing(a, b *SweepPoint) float64 {
	was, is := a.Best, b.Best
	if a.Results[is] == nil || b.Results[was] == nil || !a.Results[is].Fits || !b.Results[was].Fits {
		return 0
	}
	lead := a.Results[was].TokensPerSecondPerGPU() - a.Results[is].TokensPerSecondPerGPU()
	lag := b.Results[is].TokensPerSecondPerGPU() - b.Results[was].TokensPerSecondPerGPU()
	if lead+lag <= 0 {
		return a.Value
	}
	return a.Value * math.Pow(b.Value/a.Value, lead/(lead+lag))
}
