package infer_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// layouts cover every kind of attention, expert placement and pipeline.
var layouts = []struct {
	model, cluster string
	plan           plan.Serving
}{
	{"llama-3.1-8b", "h100x1", plan.Serving{TP: 1}},
	{"llama-3.1-70b", "h100x16", plan.Serving{TP: 4, PP: 3}},
	{"llama-3.1-70b", "h100x16", plan.Serving{TP: 16, DCP: 2}},
	{"gpt-oss-120b", "h100x4", plan.Serving{TP: 4}},
	{"qwen3.5-397b-a17b", "b200x8", plan.Serving{TP: 8, EP: 8}},
	{"deepseek-r1", "h200x8", plan.Serving{TP: 8}},
	{"deepseek-r1", "h200x16", plan.Serving{TP: 16, DCP: 4}},
	{"deepseek-r1", "h800x32", plan.Serving{TP: 1, DP: 32, EP: 32}},
	{"deepseek-r1", "h800x32", plan.Serving{TP: 4, DP: 8, EP: 32}},
	{"deepseek-r1", "h800x32", plan.Serving{TP: 4, DP: 4, EP: 1, PP: 2}},
	{"deepseek-v3.2", "h200x8", plan.Serving{TP: 8, EP: 8}},
	{"gemma-3-27b", "h100x2", plan.Serving{TP: 2}},
	{"llama-4-scout", "h100x8", plan.Serving{TP: 8}},
}

// checkStep holds the invariants of every step.
func checkStep(t *testing.T, what string, s infer.Step) {
	t.Helper()
	sum := unit.Seconds(0)
	for p := range infer.NumParts {
		if v := s.Parts[p]; !(v >= 0) {
			t.Fatalf("%s: part %s is %g", what, p, float64(v))
		}
		sum += s.Parts[p]
	}
	if math.Abs(float64(sum-s.Total)) > 1e-9*float64(s.Total) {
		t.Fatalf("%s: parts add up to %g of %g", what, float64(sum), float64(s.Total))
	}
	if !(s.Floor > 0 && s.Floor <= s.Total && s.Total <= s.Upper) || math.IsInf(float64(s.Upper), 0) {
		t.Fatalf("%s: floor %g, total %g, upper %g are out of order", what, float64(s.Floor), float64(s.Total), float64(s.Upper))
	}
	if most := max(s.Compute, s.HBM, s.NVLink, s.Network, s.Wire); s.Floor < most*(1-1e-9) {
		t.Fatalf("%s: floor %g is below its largest resource %g", what, float64(s.Floor), float64(most))
	}
}

// batch draws a batch of a serving engine.
func batch(r *rand.Rand) infer.Batch {
	var b infer.Batch
	if r.IntN(4) > 0 {
		b.Decode = 1 + r.IntN(1<<r.IntN(10))
		b.DecodeContext = int64(b.Decode) * (1 + r.Int64N(8000))
		b.Draft = r.IntN(2) * r.IntN(4)
	}
	if r.IntN(2) > 0 || b.Decode == 0 {
		b.Prompts = 1 + r.IntN(4)
		n := int64(b.Prompts) * (1 + r.Int64N(2000))
		b.Prefill = n
		each := float64(n) / float64(b.Prompts)
		b.PrefillPairs = float64(n) * (each/2 + float64(r.IntN(2)*r.IntN(5000)))
	}
	return b
}

// Every step of every layout keeps its invariants, and more work never takes less
// time: another sequence, a longer context, a draft, a longer or further prompt.
func TestMoreWorkNeverTakesLessTime(t *testing.T) {
	for _, l := range layouts {
		e := mustEngine(t, l.model, l.cluster, l.plan, nil)
		what := fmt.Sprint(l.model, " ", l.plan.String(), " on ", l.cluster)
		r := rand.New(rand.NewPCG(1, 2))
		for range 300 {
			b := batch(r)
			s := e.Step(&b)
			checkStep(t, fmt.Sprintf("%s %+v", what, b), s)
			for name, c := range more(b) {
				if u := e.Step(&c); float64(u.Total) < float64(s.Total)*(1-1e-6) {
					t.Errorf("%s: %s: %+v takes %.9g after %+v took %.9g", what, name, c, float64(u.Total), b, float64(s.Total))
				}
			}
		}
	}
}

// more are batches with one more thing to do.
func more(b infer.Batch) map[string]infer.Batch {
	out := map[string]infer.Batch{}
	if b.Decode > 0 {
		c := b
		c.Decode++
		c.DecodeContext += ceilDiv(b.DecodeContext, int64(b.Decode)) // the same mean
		out["a sequence"] = c
		c = b
		c.DecodeContext += int64(b.Decode)
		out["a token of context each"] = c
		c = b
		c.Draft++
		out["a draft"] = c
	}
	if b.Prefill > 0 {
		c := b
		c.Prefill += int64(b.Prompts)
		c.PrefillPairs += 2 * b.PrefillPairs / float64(b.Prefill) * float64(b.Prompts)
		out["a prompt token each"] = c
		c = b
		c.PrefillPairs += float64(b.Prefill) * 100
		out["longer pasts"] = c
	}
	return out
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }

// worse are clusters with one figure made worse.
var worse = map[string]func(*hw.Cluster){
	"products": func(c *hw.Cluster) {
		for f := range unit.NumFormats {
			c.Device.Achieved.Matrix[f].Value /= 2
			c.Device.Peak.Matrix[f].Value /= 2
		}
	},
	"memory":          func(c *hw.Cluster) { c.Device.Achieved.HBM.Value /= 2; c.Device.Peak.HBM.Value /= 2 },
	"scale-up":        func(c *hw.Cluster) { c.Device.Achieved.ScaleUp.Value /= 2; c.Device.Peak.ScaleUp.Value /= 2 },
	"network":         func(c *hw.Cluster) { c.Node.NIC.Value /= 4; c.Device.Achieved.NIC.Value /= 4 },
	"network latency": func(c *hw.Cluster) { c.Node.NICLatency = hw.Figure{Value: 50e-6, Grade: hw.Measured, Source: "test"} },
}

// A step never gets faster on a machine with a lower rate or a longer latency.
func TestWorseMachineIsNeverFaster(t *testing.T) {
	for _, l := range layouts {
		base := mustEngine(t, l.model, l.cluster, l.plan, nil)
		for name, change := range worse {
			e := mustEngine(t, l.model, l.cluster, l.plan, func(s *infer.Setup) {
				s.Cluster = s.Cluster.Clone()
				change(s.Cluster)
			})
			r := rand.New(rand.NewPCG(3, 4))
			for range 20 {
				b := batch(r)
				if x, y := base.Step(&b).Total, e.Step(&b).Total; float64(y) < float64(x)*(1-1e-9) {
					t.Errorf("%s %s: worse %s: %+v takes %g, was %g", l.model, l.plan.String(), name, b, float64(y), float64(x))
				}
			}
		}
	}
}

// The rows that Explain lists are the step, on one node and across, in pipelines, at
// round trips below and above the fabric's own: estimates and upper bounds add up, no
// row is out of order, and the floors hold the step's.
func TestRowsAreTheStep(t *testing.T) {
	for i, l := range layouts {
		for _, rtt := range []unit.Seconds{-1, 0, 1e-6, 2.193e-3} {
			e := mustEngine(t, l.model, l.cluster, l.plan, func(s *infer.Setup) {
				if rtt >= 0 {
					s.RTT = &rtt
				}
			})
			r := rand.New(rand.NewPCG(5, uint64(i)))
			for range 20 {
				b := batch(r)
				s := e.Step(&b)
				var total, upper, floor, wire unit.Seconds
				for _, row := range e.Explain(&b) {
					total, upper, floor = total+row.Total, upper+row.Upper, floor+row.Floor
					if row.Part == infer.Communication && row.Op.Kind != work.Collective {
						wire += row.Total
					}
					if !(row.Floor >= 0 && row.Floor <= row.Total*(1+1e-9) && row.Total <= row.Upper*(1+1e-9)) {
						t.Fatalf("%s %s: row %+v is out of order", l.model, l.plan.String(), row)
					}
				}
				what := fmt.Sprintf("%s %s at %g %+v", l.model, l.plan.String(), float64(rtt), b)
				within(t, what+": rows", float64(total), float64(s.Total), 1e-9)
				within(t, what+": upper bounds", float64(upper), float64(s.Upper), 1e-9)
				if s.Wire > 0 {
					within(t, what+": waits", float64(wire), float64(s.Wire), 1e-9)
				}
				if floor < s.Floor*(1-1e-9) && l.plan.PP <= 1 {
					t.Errorf("%s: floors add up to %g of %g", what, float64(floor), float64(s.Floor))
				}
			}
		}
	}
}

// A step allocates nothing once its tables are filled, and equal engines agree to
// the last bit whatever they priced before.
func TestStepsAreDeterministicAndAllocateNothing(t *testing.T) {
	for _, l := range layouts {
		a := mustEngine(t, l.model, l.cluster, l.plan, nil)
		b := mustEngine(t, l.model, l.cluster, l.plan, nil)
		r := rand.New(rand.NewPCG(7, 8))
		batches := make([]infer.Batch, 50)
		for i := range batches {
			batches[i] = batch(r)
			b.Step(&batches[i])
		}
		for i := range batches {
			k := len(batches) - 1 - i
			if x, y := a.Step(&batches[k]), b.Step(&batches[k]); x != y {
				t.Fatalf("%s: %+v and %+v for %+v", l.model, x, y, batches[k])
			}
		}
		if n := testing.AllocsPerRun(20, func() {
			for i := range batches {
				a.Step(&batches[i])
			}
		}); n != 0 {
			t.Errorf("%s %s: %g allocations", l.model, l.plan.String(), n)
		}
	}
}

// An empty batch is no step.
func TestEmptyBatch(t *testing.T) {
	e := mustEngine(t, "llama-3.1-8b", "h100x1", plan.Serving{TP: 1}, nil)
	if s := e.Step(&infer.Batch{}); s != (infer.Step{}) {
		t.Errorf("%+v", s)
	}
	if rows := e.Explain(&infer.Batch{}); rows != nil {
		t.Errorf("%d rows", len(rows))
	}
}

// A longer round trip never makes a step faster, from none on; where nothing crosses
// nodes it changes nothing.
func TestLatencyNeverHelps(t *testing.T) {
	for _, l := range layouts {
		b := infer.Batch{Decode: 64, DecodeContext: 64 * 1000, Prefill: 512, Prompts: 1, PrefillPairs: 512 * 256}
		var last infer.Step
		for _, rtt := range []unit.Seconds{0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2} {
			e := mustEngine(t, l.model, l.cluster, l.plan, func(s *infer.Setup) { s.RTT = &rtt })
			s := e.Step(&b)
			checkStep(t, fmt.Sprintf("%s %s round trip %g", l.model, l.plan.String(), float64(rtt)), s)
			if s.Total < last.Total {
				t.Errorf("%s %s: %g s with a round trip of %g, %g with less", l.model, l.plan.String(), float64(s.Total), float64(rtt), float64(last.Total))
			}
			if one := e.Setup().Plan.GPUs() <= int(e.Setup().Cluster.Node.GPUs); one != (s.Wire == 0 && (last.Total == 0 || s == last)) && rtt > 0 {
				t.Errorf("%s %s: one node %t, but the wire takes %g", l.model, l.plan.String(), one, float64(s.Wire))
			}
			last = s
		}
	}
}
