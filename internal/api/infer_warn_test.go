package api

import (
	"slices"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/unit"
)

func warns(a *InferAnswer, part string) bool {
	return slices.ContainsFunc(a.Warnings, func(w note.Note) bool { return strings.Contains(w.Text, part) })
}

// A best load that is the largest looked at is named as the edge, unless it waits: then
// it is past the queue, as it is where every load asked about is.
func TestEdgeAndQueueAreNamed(t *testing.T) {
	for _, x := range []struct {
		loads       []int
		slo         unit.Seconds
		edge, queue bool
	}{{[]int{1, 8, 16}, 0, true, false}, {[]int{16}, 0, false, false}, {[]int{64, 4096}, 0, false, false}, {[]int{4096}, 0, false, true}, {[]int{64, 4096}, 30e-3, false, false}} {
		r := service(t, "tp=8", x.loads...)
		r.SLO.TPOT = x.slo
		a := answerOf(t, r)
		if warns(a, "edge of --concurrency") != x.edge || warns(a, "this load is past the queue") != x.queue {
			t.Errorf("%v, tpot %v: %d in flight, warnings %q", x.loads, x.slo, a.Best.Best.Concurrency, a.Warnings)
		}
	}
}

// Rows are bound by the queue beyond the number that the verdict states, and nowhere
// else; without an objective the best load lies before it, with the other end beside.
func TestQueueingIsOneNumber(t *testing.T) {
	for _, x := range []struct {
		isl, osl int64
		engine   string
	}{{16000, 32, "trtllm"}, {8000, 64, "sglang"}, {1024, 1024, "vllm"}} {
		r := service(t, "tp=8", 1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
		r.ISL, r.OSL, r.Engine = x.isl, x.osl, x.engine
		a := answerOf(t, r)
		for _, p := range a.Outcomes[0].Points {
			if beyond := float64(p.Concurrency) > p.Full.Clients; beyond != (p.Bound == deploy.BoundQueue) {
				t.Errorf("%+v: %d in flight are bound by %s, queueing takes over beyond %g", x, p.Concurrency, p.Bound, p.Full.Clients)
			}
		}
		if b := a.Best.Best; b.Queued || a.Saturated == nil || !a.Saturated.Queued || a.Saturated.PerGPU() <= b.PerGPU() {
			t.Errorf("%+v: best at %d, queued %t, saturated %+v", x, b.Concurrency, b.Queued, a.Saturated)
		}
	}
}

// A part that the model does not have turns compute-bound nowhere.
func TestFlipsAreOfPartsThatExist(t *testing.T) {
	r := service(t, "tp=1", 8)
	var err error
	if r.Model, err = catalog.Model("gpt-oss-120b"); err != nil {
		t.Fatal(err)
	}
	parts := []infer.Part{}
	for _, f := range answerOf(t, r).Flips {
		parts = append(parts, f.Part)
	}
	if slices.Contains(parts, infer.Dense) || !slices.Contains(parts, infer.Experts) {
		t.Errorf("parts %v of a model whose every layer routes", parts)
	}
}

// More sequences read more experts of a layer, from those of one token to all there are.
func TestTouchedExpertsGrow(t *testing.T) {
	last := 0.0
	for _, n := range []int{1, 16, 256} {
		a := answerOf(t, service(t, "tp=8", n))
		if a.Experts != 256 || !(a.Touched > last && a.Touched <= min(256, float64(8*a.Best.Best.Batch))) {
			t.Errorf("%d in flight: %g of %d experts, after %g", n, a.Touched, a.Experts, last)
		}
		last = a.Touched
	}
}
