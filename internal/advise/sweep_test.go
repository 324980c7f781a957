package advise

import (
	"context"
	"math"
	"testing"

	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// A faster machine makes no plan slower, and where the winner changes the two
// plans are equally fast between the values around it.
func TestSweep(t *testing.T) {
	q := question(t, "llama-3.1-8b", "h100x16", 128, 8192, "bf16")
	plans := []plan.Plan{best(t, q, "fsdp").Plan, best(t, q, "tp=8,pp=2,zero=1").Plan}
	for k := range BatchKnob {
		s, err := q.Sweep(context.Background(), plans, k)
		if err != nil || len(s.Points) < 10 {
			t.Fatalf("%s: %d points, %v", k, len(s.Points), err)
		}
		for i := 1; i < len(s.Points); i++ {
			a, b := &s.Points[i-1], &s.Points[i]
			if !(a.Value < b.Value) {
				t.Errorf("%s: %g after %g", k, b.Value, a.Value)
			}
			for p := range plans {
				if b.Results[p].Step > a.Results[p].Step*(1+1e-9) {
					t.Errorf("%s: plan %d takes %v at %g and %v at %g", k, p, a.Results[p].Step, a.Value, b.Results[p].Step, b.Value)
				}
			}
		}
		for _, f := range s.Flips {
			if f.Crossing != 0 && (f.Crossing < f.Low || f.Crossing > f.High) {
				t.Errorf("%s: crossing %g outside of %g..%g", k, f.Crossing, f.Low, f.High)
			}
		}
	}
}

// What is sent and held in time is what the step was priced with.
func TestMoments(t *testing.T) {
	q := question(t, "llama-3.1-70b", "h100x64", 128, 4096, "bf16")
	for _, text := range []string{"fsdp", "tp=8,pp=4,zero=1", "tp=8,pp=4,vpp=2,zero=1,overlap=none", "tp=8,pp=8,zero=1,schedule=dualpipe", "tp=8,pp=4,zero=1,schedule=dualpipe-v"} {
		r := best(t, q, text)
		e, err := q.Evaluator()
		if err != nil {
			t.Fatal(err)
		}
		m, err := e.Moments(&r.Plan)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if len(m.Ranks) != r.Plan.PP || m.Layout.Step > r.Step*(1+1e-9) {
			t.Errorf("%s: %d ranks, pipeline %v of a step of %v", text, len(m.Ranks), m.Layout.Step, r.Step)
		}
		most := m.Ranks[0].Memory.Total()
		for _, rank := range m.Ranks {
			most = max(most, rank.Memory.Total())
		}
		if most != r.Memory.Total() {
			t.Errorf("%s: fullest rank %d bytes, the plan needs %d", text, most, r.Memory.Total())
		}
		for rank, waits := range m.Waits {
			for i, w := range waits {
				sum := m.Layout.Ranks[rank][i].Start - m.Layout.Ranks[rank][i].End
				for k := range train.NumWaits {
					sum += w[k]
				}
				if sum > 1e-9 {
					t.Errorf("%s: rank %d waits %v longer than pass %d lasts", text, rank, sum, i)
				}
			}
		}
		if (len(m.Sends) > 0) != (r.Plan.PP > 1) {
			t.Errorf("%s: %d sends", text, len(m.Sends))
		}
		for _, x := range m.Sends {
			if d := x.To - x.From; d != 1 && d != -1 && r.Plan.VPP == 1 || x.End < x.Start {
				t.Errorf("%s: %+v", text, x)
			}
		}
	}
}

// The passes of one rank hold the wait for experts that the step states.
func TestMomentsHoldExpertWaits(t *testing.T) {
	q := question(t, "mixtral-8x7b", "h100x16", 256, 4096, "bf16")
	r := best(t, q, "ep=8,pp=2,schedule=1f1b")
	e, err := q.Evaluator()
	if err != nil {
		t.Fatal(err)
	}
	m, err := e.Moments(&r.Plan)
	if err != nil {
		t.Fatal(err)
	}
	want, near := r.Waits[train.WaitEP], false
	var sums []unit.Seconds
	for _, waits := range m.Waits {
		var sum unit.Seconds
		for _, w := range waits {
			sum += w[train.WaitEP]
		}
		sums = append(sums, sum)
		near = near || math.Abs(float64(sum/want-1)) < 1e-3
	}
	if want <= 0 || !near {
		t.Errorf("ranks wait %v for experts, the step %v", sums, want)
	}
}
