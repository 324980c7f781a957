package train

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/unit"
)

func cluster(t testing.TB, spec string) *hw.Cluster {
	t.Helper()
	c, err := catalog.Cluster(spec)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func evaluator(t testing.TB, model string, c *hw.Cluster, batch, seq int) *Evaluator {
	t.Helper()
	m, err := catalog.Model(model)
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEvaluator(plan.NewJob(m, int(c.GPUs), int(c.Node.GPUs), batch, seq, 0), c, 0)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// randomPlans draws n legal plans of a job, a fixed seed for a fixed set.
func randomPlans(t testing.TB, j *plan.Job, precision string, n int) []plan.Plan {
	t.Helper()
	r := rand.New(rand.NewPCG(1, uint64(j.GPUs)))
	pick := func(v ...int) int { return v[r.IntN(len(v))] }
	var list []plan.Plan
	for tries := 0; len(list) < n; tries++ {
		if tries > 2_000_000 {
			t.Fatalf("only %d legal plans found", len(list))
		}
		p := plan.Plan{TP: pick(1, 2, 4, 8), CP: pick(1, 1, 1, 2), PP: pick(1, 2, 4, 8, 16), VPP: 1, EP: 1, ETP: 1, ZeRO: r.IntN(4),
			MicroBatch: pick(1, 2, 4), Schedule: sched.Kind(r.IntN(int(sched.NumKinds))), Precision: plan.Precisions[precision],
			Recompute: []plan.Recompute{plan.ReNone, plan.ReSelective, plan.ReFull, plan.ReAct}[r.IntN(4)],
			Overlap:   plan.Overlap{TP: r.IntN(2) == 0, DP: r.IntN(2) == 0, PP: r.IntN(2) == 0, EP: r.IntN(2) == 0}}
		if p.Schedule == sched.ZB1P || p.Schedule == sched.ZB2P {
			continue // their order depends on the times, so a slower part may find a luckier order
		}
		if p.Schedule == sched.Interleaved {
			p.VPP = pick(2, 3)
		}
		if j.Model.MoE() {
			p.EP, p.ETP = pick(1, 2, 4, 8, 16), pick(1, p.TP)
		}
		p.SP = p.TP > 1 && (r.IntN(2) == 0 || j.Model.MoE())
		if rest := p.TP * p.CP * p.PP; j.GPUs%rest == 0 {
			p.DP = j.GPUs / rest
			if p.Check(j) == plan.Legal {
				list = append(list, p)
			}
		}
	}
	return list
}

var propertyJobs = []struct {
	model, cluster, precision string
	batch, seq                int
}{
	{"llama-3.1-8b", "h100x64", "bf16", 512, 4096},
	{"mixtral-8x22b", "b200x128", "fp8-tensor", 1024, 4096},
	{"deepseek-v3", "h800x256", "fp8", 1024, 4096},
	{"gpt-oss-120b", "gb200x144", "bf16", 576, 4096},
}

// No estimate is faster than its floor or slower than its upper bound, no floor
// below any resource's own time, and the search's two bounds are bounds.
func TestBounds(t *testing.T) {
	for _, j := range propertyJobs {
		e := evaluator(t, j.model, cluster(t, j.cluster), j.batch, j.seq)
		for _, p := range randomPlans(t, e.Job(), j.precision, 60) {
			r, err := e.Evaluate(&p)
			if err != nil {
				t.Fatalf("%s: %v", p.String(), err)
			}
			if !(r.Lower <= r.Step && r.Step <= r.Upper) || r.Ceilings.Max() > r.Lower {
				t.Errorf("%s: ceilings %v, %v <= %v <= %v", p.String(), r.Ceilings.Max(), r.Lower, r.Step, r.Upper)
			}
			q := e.Quick(&p)
			if q.Memory != r.Memory.Total() || q.Fits != r.Fits || q.Bound > r.Step {
				t.Errorf("%s: quick %+v, step %v, memory %v", p.String(), q, r.Step, r.Memory.Total())
			}
			if low := e.Leanest(&p, &Lean{ZeRO: 3, Offload: true}); low > r.Memory.Total() {
				t.Errorf("%s: the leanest state needs %v, this one %v", p.String(), low, r.Memory.Total())
			}
			if f := e.Busy(&p); f > r.Step*(1+1e-9) {
				t.Errorf("%s: the mean rank is busy for %v, the step takes %v", p.String(), f, r.Step)
			}
			if f := e.Fastest(&p); f > r.Step {
				t.Errorf("%s: the fastest state takes %v, this one %v", p.String(), f, r.Step)
			}
			if s, err := e.Step(&p); err != nil || s != r.Step {
				t.Errorf("%s: step %v (%v), evaluated %v", p.String(), s, err, r.Step)
			}
			if r.Kernels() < 0 || r.MFU() > r.HFU()+1e-9 || r.HFU() > 3 {
				t.Errorf("%s: kernels %v, MFU %v, HFU %v", p.String(), r.Kernels(), r.MFU(), r.HFU())
			}
		}
	}
}

// rates are the figures of a machine that can be slower.
var rates = map[string]func(*hw.Cluster) []*hw.Figure{
	"nic": func(c *hw.Cluster) []*hw.Figure { return []*hw.Figure{&c.Node.NIC, &c.Device.Achieved.NIC} },
	"scale-up": func(c *hw.Cluster) []*hw.Figure {
		return []*hw.Figure{&c.Device.Peak.ScaleUp, &c.Device.Achieved.ScaleUp, &c.Device.Achieved.ScaleUpReduce}
	},
	"hbm": func(c *hw.Cluster) []*hw.Figure { return []*hw.Figure{&c.Device.Peak.HBM, &c.Device.Achieved.HBM} },
	"matrix": func(c *hw.Cluster) []*hw.Figure {
		figs := []*hw.Figure{&c.Device.Achieved.AttentionFwd, &c.Device.Achieved.AttentionBwd}
		for f := range unit.NumFormats {
			figs = append(figs, &c.Device.Peak.Matrix[f], &c.Device.Achieved.Matrix[f])
		}
		return figs
	},
}

// Time never falls when a rate falls: floor, estimate, upper bound and ceilings.
func TestSlowerHardwareIsNeverFaster(t *testing.T) {
	const rounding = 1 - 1e-9
	for _, j := range propertyJobs {
		fast := evaluator(t, j.model, cluster(t, j.cluster), j.batch, j.seq)
		plans := randomPlans(t, fast.Job(), j.precision, 40)
		for name, figures := range rates {
			c := cluster(t, j.cluster).Clone()
			for _, f := range figures(c) {
				f.Value *= 0.7
			}
			slow := evaluator(t, j.model, c, j.batch, j.seq)
			for i := range plans {
				if k := plans[i].Schedule; k >= sched.ZBH1 && k <= sched.ZBV {
					continue // their step is a rank's span from its own first start, which may start later
				}
				a, err := fast.Evaluate(&plans[i])
				if err != nil {
					t.Fatal(err)
				}
				b, err := slow.Evaluate(&plans[i])
				if err != nil {
					t.Fatal(err)
				}
				if b.Step < a.Step*rounding || b.Lower < a.Lower*rounding || b.Upper < a.Upper*rounding || b.Ceilings.Max() < a.Ceilings.Max()*rounding {
					t.Errorf("%s slower, %s: [%v %v %v] -> [%v %v %v]", name, plans[i].String(), a.Lower, a.Step, a.Upper, b.Lower, b.Step, b.Upper)
				}
			}
		}
	}
}

// The work of a step does not depend on how it is cut: without recomputation,
// expert copies or replicated projections, executed FLOPs per GPU times GPUs are
// the same for every layout of a dense model.
func TestWorkIsFixed(t *testing.T) {
	e := evaluator(t, "llama-3.1-8b", cluster(t, "h100x64"), 512, 4096)
	want := 0.0
	for _, p := range randomPlans(t, e.Job(), "bf16", 80) {
		p.Recompute = plan.ReNone
		r, err := e.Evaluate(&p)
		if err != nil {
			t.Fatal(err)
		}
		got := float64(r.HardwareFLOPs)
		if want == 0 {
			want = got
		}
		if math.Abs(got/want-1) > 1e-6 {
			t.Errorf("%s: %v FLOPs per GPU, another layout %v", p.String(), got, want)
		}
	}
}

// More overlap never takes longer.
func TestOverlapNeverHurts(t *testing.T) {
	for _, j := range propertyJobs {
		e := evaluator(t, j.model, cluster(t, j.cluster), j.batch, j.seq)
		for _, p := range randomPlans(t, e.Job(), j.precision, 40) {
			p.Overlap = plan.Overlap{}
			none, err := e.Evaluate(&p)
			if err != nil {
				t.Fatal(err)
			}
			p.Overlap = plan.Overlap{TP: true, DP: true, PP: true, EP: true}
			all, err := e.Evaluate(&p)
			if err != nil {
				t.Fatal(err)
			}
			if all.Step > none.Step*(1+1e-9) {
				t.Errorf("%s: %v overlapped, %v not", p.String(), all.Step, none.Step)
			}
		}
	}
}

// Clones share prices and nothing that they write: each gives its own plan's
// answer while others work. Meant for the race detector.
func TestClonesAreIndependent(t *testing.T) {
	e := evaluator(t, "mixtral-8x22b", cluster(t, "b200x128"), 1024, 4096)
	plans := randomPlans(t, e.Job(), "fp8-tensor", 24)
	want := make([]unit.Seconds, len(plans))
	for i := range plans {
		want[i] = e.Quick(&plans[i]).Bound
	}
	var wg sync.WaitGroup
	for range 4 {
		clone := e.Clone()
		wg.Go(func() {
			for i := range plans {
				if got := clone.Quick(&plans[i]).Bound; got != want[i] {
					t.Errorf("%s: %v in a clone, %v alone", plans[i].String(), got, want[i])
				}
			}
		})
	}
	wg.Wait()
}

// Pairing micro-batches hides the expert exchange of an interleaved pipeline: the step is
// shorter than without and no shorter than the kernels alone; 1F1B has no pairs.
func TestOverlapOfExperts(t *testing.T) {
	e := evaluator(t, "qwen3-235b-a22b", cluster(t, "b200x256"), 2048, 4096)
	for _, c := range []struct {
		text string
		less bool
	}{{"tp=1,pp=8,vpp=2,dp=32,ep=32,zero=1,mbs=1,schedule=interleaved", true}, {"tp=1,pp=8,dp=32,ep=32,zero=1,mbs=1,schedule=1f1b", false}} {
		fixed, err := plan.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		p := fixed.Plan
		p.Precision = plan.Precisions["bf16"]
		p.CP, p.ETP, p.VPP, p.Overlap = 1, 1, max(p.VPP, 1), plan.Overlap{TP: true, DP: true, PP: true}
		apart, err := e.Evaluate(&p)
		if err != nil {
			t.Fatal(err)
		}
		p.Overlap.EP = true
		paired, err := e.Evaluate(&p)
		if err != nil {
			t.Fatal(err)
		}
		if less := paired.Step < 0.9*apart.Step; less != c.less || !c.less && paired.Step != apart.Step {
			t.Errorf("%s: %v apart, %v paired", c.text, apart.Step, paired.Step)
		}
		sum := paired.Kernels()
		if sum < apart.Kernels()*(1-1e-9) || paired.Waits[WaitEP] > apart.Waits[WaitEP] || paired.Step < paired.Lower {
			t.Errorf("%s: kernels %v and %v, exchange %v and %v, at least %v", c.text, apart.Kernels(), sum, apart.Waits[WaitEP], paired.Waits[WaitEP], paired.Lower)
		}
	}
}
