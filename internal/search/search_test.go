package search

import (
	"context"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/train"
)

// prepare builds an evaluator and the space that text leaves open.
func prepare(t *testing.T, model, cluster string, batch, seq int, precision, text string) (*train.Evaluator, *Space) {
	t.Helper()
	m, err := catalog.Model(model)
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Cluster(cluster)
	if err != nil {
		t.Fatal(err)
	}
	f, err := plan.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	j := plan.NewJob(m, int(c.GPUs), int(c.Node.GPUs), batch, seq, 0)
	e, err := train.NewEvaluator(j, c, 0)
	if err != nil {
		t.Fatal(err)
	}
	return e, NewSpace(j, f, plan.Precisions[precision])
}

func run(t *testing.T, e *train.Evaluator, s *Space, o Options) *Outcome {
	t.Helper()
	out, err := Run(context.Background(), e, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// jobs of every kind: dense and routed, one node and many, with and without pipelines.
var jobs = []struct {
	model, cluster string
	batch, seq     int
	precision      string
	text           string
}{
	{"llama-3.1-8b", "h100x8", 32, 8192, "bf16", ""},
	{"llama-3.1-70b", "h100x64", 128, 4096, "fp8-tensor", "cp=1"},
	{"mixtral-8x7b", "a100x32", 64, 4096, "bf16", "cp=1"},
	{"gpt3-175b", "h100x128", 256, 2048, "bf16", "schedule=interleaved,sp=1"},
	{"deepseek-v2-lite", "h800x32", 128, 4096, "fp8", "cp=1,etp=1"},
}

// The bound skips no plan that belongs among the best: the exhaustive search,
// which lays out every plan that fits, finds the same plans and counts.
func TestPrunedEqualsExhaustive(t *testing.T) {
	for _, j := range jobs {
		e, s := prepare(t, j.model, j.cluster, j.batch, j.seq, j.precision, j.text)
		fast := run(t, e, s, Options{Top: 8})
		slow := run(t, e, s, Options{Top: 8, Exhaustive: true})
		if len(fast.Plans) != len(slow.Plans) {
			t.Fatalf("%s: %d plans pruned, %d exhaustive", j.model, len(fast.Plans), len(slow.Plans))
		}
		for i := range fast.Plans {
			if a, b := fast.Plans[i], slow.Plans[i]; a.Plan.String() != b.Plan.String() || a.Step != b.Step {
				t.Errorf("%s #%d: pruned %s %v, exhaustive %s %v", j.model, i, a.Plan.String(), a.Step, b.Plan.String(), b.Step)
			}
		}
		if a, b := fast.Count.Evaluated(), slow.Count.Evaluated(); a != b {
			t.Errorf("%s: %d plans looked at when pruning, %d exhaustively", j.model, a, b)
		}
		if slow.Count.Pruned != 0 {
			t.Errorf("%s: the exhaustive search pruned %d", j.model, slow.Count.Pruned)
		}
	}
}

// The answer, its counts and its examples do not depend on the number of workers, nor on who is faster.
func TestWorkersAgree(t *testing.T) {
	for _, j := range jobs {
		e, s := prepare(t, j.model, j.cluster, j.batch, j.seq, j.precision, j.text)
		one := run(t, e, s, Options{Workers: 1, Top: 3})
		for _, workers := range []int{2, 7} {
			many := run(t, e, s, Options{Workers: workers, Top: 3})
			for i := range one.Plans {
				if a, b := one.Plans[i].Plan.String(), many.Plans[i].Plan.String(); a != b {
					t.Errorf("%s #%d: %s with one worker, %s with %d", j.model, i, a, b, workers)
				}
			}
			if one.Count != many.Count || one.Count.Pruned == 0 || one.Count.LaidOut == 0 {
				t.Errorf("%s: %+v with one worker, %+v with %d", j.model, one.Count, many.Count, workers)
			}
			for c := range one.Examples {
				if a, b := one.Examples[c], many.Examples[c]; (a == nil) != (b == nil) || a != nil && *a != *b {
					t.Errorf("%s, %s: example %v with one worker, %v with %d", j.model, plan.Cause(c), a, b, workers)
				}
			}
		}
	}
}

// No plan comes twice: every candidate of a walk has its own text.
func TestWalkVisitsEachPlanOnce(t *testing.T) {
	for _, j := range jobs {
		e, s := prepare(t, j.model, j.cluster, j.batch, j.seq, j.precision, j.text)
		seen := map[string]bool{}
		v := &visitor{illegal: func(*plan.Plan, plan.Cause) {}, larger: func(*plan.Plan) {}}
		v.mode = func(p *plan.Plan) bool {
			n := int64(0)
			s.states(*p, func(p *plan.Plan) {
				n++
				if text := p.String(); seen[text] {
					t.Errorf("%s: %s comes twice", j.model, text)
				} else {
					seen[text] = true
				}
			})
			if n != s.stateCount(p) {
				t.Errorf("%s: %d states visited, %d counted", j.model, n, s.stateCount(p))
			}
			return true
		}
		for _, o := range s.outers(e.Job().GPUs) {
			s.walk(e.Job(), o, v)
		}
		if len(seen) == 0 {
			t.Errorf("%s: nothing visited", j.model)
		}
	}
}

// More usable memory never shrinks the feasible set nor slows the best plan.
func TestMoreMemoryNeverHurts(t *testing.T) {
	for _, j := range jobs[:3] {
		fits, best := int64(0), 0.0
		for _, limit := range []float64{0.3, 0.94, 1} {
			e, s := prepare(t, j.model, j.cluster, j.batch, j.seq, j.precision, j.text)
			wide, err := train.NewEvaluator(e.Job(), e.Cluster(), limit)
			if err != nil {
				t.Fatal(err)
			}
			out := run(t, wide, s, Options{Top: 1, Exhaustive: true})
			if out.Count.LaidOut < fits {
				t.Errorf("%s: %d plans fit in %.2f of memory, %d in less", j.model, out.Count.LaidOut, limit, fits)
			}
			fits = out.Count.LaidOut
			if len(out.Plans) == 0 {
				continue
			}
			if step := float64(out.Plans[0].Step); best > 0 && step > best {
				t.Errorf("%s: best step %v with %.2f of memory, %v with less", j.model, step, limit, best)
			} else {
				best = step
			}
		}
	}
}

// Where nothing fits, the nearest plan needs least memory of all.
func TestNearestNeedsLeast(t *testing.T) {
	e, s := prepare(t, "llama-3.1-405b", "h100x8", 8, 8192, "bf16", "cp=1")
	out := run(t, e, s, Options{})
	if len(out.Plans) > 0 || out.Nearest == nil || out.Nearest.Fits {
		t.Fatalf("plans %d, nearest %v", len(out.Plans), out.Nearest)
	}
	v := &visitor{illegal: func(*plan.Plan, plan.Cause) {}, larger: func(*plan.Plan) {}}
	v.mode = func(p *plan.Plan) bool {
		s.states(*p, func(p *plan.Plan) {
			if q := e.Quick(p); q.Memory < out.Nearest.Memory.Total() {
				t.Errorf("%s needs %d, the nearest %d", p, q.Memory, out.Nearest.Memory.Total())
			}
		})
		return true
	}
	for _, o := range s.outers(e.Job().GPUs) {
		s.walk(e.Job(), o, v)
	}
}

// A cancelled search keeps what it found and says so.
func TestCancelled(t *testing.T) {
	e, s := prepare(t, "llama-3.1-8b", "h100x8", 32, 8192, "bf16", "")
	ctx, cancel := context.WithCancel(context.Background())
	out, err := Run(ctx, e, s, Options{Workers: 1, Progress: func(done, _ int) {
		if done == 3 {
			cancel()
		}
	}})
	if err != nil || !out.Partial || len(out.Plans) == 0 {
		t.Errorf("error %v, partial %v, %d plans", err, out.Partial, len(out.Plans))
	}
}
