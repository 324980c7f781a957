package serve

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// Both views say alike where queueing takes over: clients within 4 %, answers per
// second within 9 %: in the simulated loop, of more users than fit, full caches throw sequences out, and
// the closed form states what the last load before that gives.
func TestQueueingTakesOverWhereTheClosedFormSays(t *testing.T) {
	one := plan.Serving{TP: 1, PP: 1, DP: 1, EP: 1, DCP: 1, Replicas: 1}
	four := one
	four.TP = 4
	for _, c := range []struct {
		model, cluster, engine string
		plan                   plan.Serving
		isl, osl               int
	}{
		{"llama-3.1-8b", "h100x1", "vllm", one, 2048, 256},      // prompts fill the steps
		{"llama-3.1-8b", "rtx-4090x1", "vllm", one, 512, 256},   // the cache is full
		{"llama-3.1-8b", "rtx-4090x1", "trtllm", one, 512, 256}, // of room set aside for answers
		{"llama-3.1-8b", "rtx-4090x1", "trtllm", one, 256, 1024},
		{"llama-3.1-70b", "h100x4", "vllm", four, 1024, 512},
	} {
		e := real(t, c.model, c.cluster, c.plan, c.engine)
		want, err := infer.Saturate(e, &infer.Load{ISL: int64(c.isl), OSL: int64(c.osl)})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Saturate(context.Background(), service(t, e), closed(t, c.isl, c.osl, 1, 200), 0)
		if err != nil {
			t.Fatal(err)
		}
		for name, x := range map[string][3]float64{"clients": {got.Clients, want.Clients, 0.04}, "answers": {got.Requests, want.Requests, 0.09}} {
			gap := x[0]/x[1] - 1
			t.Logf("%s on %s, %s, %d/%d: %s %.4g, closed form %.4g (%+.1f %%)", c.model, c.cluster, c.engine, c.isl, c.osl, name, x[0], x[1], 100*gap)
			if math.Abs(gap) > x[2] {
				t.Errorf("%s on %s: %s are off by more than %.0f %%", c.model, c.cluster, name, 100*x[2])
			}
		}
		for by, x := range map[string]*infer.Capacity{"simulation": got, "closed form": &want} {
			checkCapacity(t, c.model+" on "+c.cluster+" by "+by, x)
		}
	}
}

// Users whose caches grow with their answers begin to wait where the closed form says: just
// below it they hardly do, and a few per cent above as long as it says, within a third.
func TestWaitingBeginsWhereTheClosedFormSays(t *testing.T) {
	for _, c := range []struct {
		model, cluster, engine string
		tp, isl, osl           int
	}{
		{"deepseek-r1", "h200x8", "vllm", 8, 1024, 1024},
		{"llama-3.1-70b", "h100x4", "vllm", 4, 1024, 512},
	} {
		e := real(t, c.model, c.cluster, plan.Serving{TP: c.tp, PP: 1, DP: 1, EP: 1, DCP: 1, Replicas: 1}, c.engine)
		full, err := infer.Saturate(e, &infer.Load{ISL: int64(c.isl), OSL: int64(c.osl)})
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []float64{0.94, 0.98, 1.03} {
			n := int(part * full.Clients)
			p, err := infer.Steady(e, &infer.Load{ISL: int64(c.isl), OSL: int64(c.osl), Concurrency: int64(n)})
			if err != nil {
				t.Fatal(err)
			}
			w := closed(t, c.isl, c.osl, n, 10*n)
			w.Ramp = time.Duration(float64(p.E2E) * 1e9)
			m := run(t, service(t, e), w, Options{}).Mean()
			gap := m.TTFT.Mean/float64(p.Steady) - 1
			t.Logf("%s on %s: %d users, %.2f of where they wait: TTFT %.4g, closed form %.4g (%+.1f %%)", c.model, c.engine, n, part, m.TTFT.Mean, float64(p.Steady), 100*gap)
			if math.Abs(gap) > 1.0/3 || part < 1 != (p.Queue == 0) {
				t.Errorf("%s on %s, %d users: off by more than a third, or a wait of %v", c.model, c.engine, n, p.Queue)
			}
		}
	}
}

// checkCapacity holds what generates below what is in flight.
func checkCapacity(t *testing.T, what string, c *infer.Capacity) {
	t.Helper()
	if !(c.Concurrency > 0 && c.Concurrency <= c.Clients) {
		t.Errorf("%s: %.4g requests generate of %.4g in flight", what, c.Concurrency, c.Clients)
	}
}

// The capacity of a trace is of all its hours: answers and tokens per second go
// together, and requests that grow longer with the day count as they come.
func TestCapacityIsOfTheWholeTrace(t *testing.T) {
	w := &workload.Workload{}
	const n = 4000
	for i := range n {
		w.Requests = append(w.Requests, workload.Request{Input: 10, Output: 10 + 40*i/n}) // 30 on average
	}
	e := engine(ms(10))
	e.MaxSeqs = 8
	c, err := Saturate(context.Background(), &Service{Engine: e}, w, 1)
	if err != nil {
		t.Fatal(err)
	}
	if mean := c.Output / c.Requests; math.Abs(mean/29.5-1) > 0.02 {
		t.Errorf("%g tokens per second in %g answers are %g each, want the trace's 29.5", c.Output, c.Requests, mean)
	}
}

// Whatever the lengths, room, places and token budget, no more requests generate than
// are in flight, and no more are in flight than there are places.
func TestNoMoreGenerateThanAreInFlight(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for range 60 {
		e := engine(ms(float64(1 + r.IntN(20))))
		e.MaxSeqs, e.MaxTokens, e.Blocks = 1+r.IntN(64), 64+r.IntN(512), 100+r.IntN(2000)
		s := &Service{Engine: e}
		w := closed(t, 1+r.IntN(60), 2+r.IntN(60), 1, 50)
		c, err := Saturate(context.Background(), s, w, r.Uint64())
		if err != nil || c == nil {
			t.Fatalf("%+v: %v", e, err)
		}
		what := fmt.Sprintf("%d places, %d tokens a step, %d blocks", e.MaxSeqs, e.MaxTokens, e.Blocks)
		checkCapacity(t, what, c)
		if most := float64(e.MaxSeqs) * (1 + 1e-9); c.Clients > most {
			t.Errorf("%s: %.4g in flight", what, c.Clients)
		}
	}
}
