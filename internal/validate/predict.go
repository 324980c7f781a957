package validate

import (
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/mem"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/train"
)

// Prediction is one run predicted.
type Prediction struct {
	Run   *Run
	MoE   bool
	Waits bool   // its step shows the wait for routed experts
	Arch  string // GPU generation

	Device  string  // catalogue name
	Steady  string  // hw.Shares.Steady of it
	PerWatt float64 // hw.Device.PerWatt of it
	Result  *train.Result
	gpu     *hw.Device
	// Sustained is the share of the achieved rates that it was priced at.
	Sustained float64
	// Memory is the prediction in the unit and the scope of the run's own figure.
	Memory float64
}

// TokensPerSecondPerGPU is the predicted throughput.
func (p *Prediction) TokensPerSecondPerGPU() float64 { return p.Result.TokensPerSecondPerGPU() }

// Predictor predicts runs. The zero value knows the catalogue's models.
type Predictor struct {
	Configs string // folder of Hugging Face configurations, "" = none
	Options cost.Options
	Machine *hw.Cluster // stands in for the catalogue's, as of ServingPredictor
}

// Predict predicts one run from its description. The error says in one line
// what stands in the way.
func (p *Predictor) Predict(r *Run) (*Prediction, error) {
	m, err := p.model(r)
	if err != nil {
		return nil, err
	}
	c, err := onMachineOr(p.Machine, r.GPU, r.GPUs)
	if err != nil {
		return nil, wrong(err, "gpu")
	}
	if err := r.check(m); err != nil {
		return nil, err
	}
	if nic := engineOf(r).nic; nic > 0 && p.Machine == nil {
		c = c.Clone()
		c.Node.NIC.Value = float64(nic)
	}
	job := plan.NewJob(m, r.GPUs, int(c.Node.GPUs), r.GlobalBatch, r.Seq, max(r.MTP, 0))
	job.EndsAsLayers = engineOf(r).ends
	e, err := p.evaluator(r, job, c)
	if err != nil {
		return nil, err
	}
	pl, err := planOf(r, job)
	if err != nil {
		return nil, err
	}
	run := engineOf(r)
	pl.Overlap.EP = run.bridgeOptions(r, c.Device, c.Node.GPUs, &cost.Options{})
	pl.UnfusedAttn = pl.UnfusedAttn || run.lacksWideKeys(m, c.Device)
	choices, err := recomputations(r, m, pl.UnfusedAttn)
	if err != nil {
		return nil, wrong(err, "recompute")
	}
	res, err := evaluate(e, pl, choices)
	if err != nil {
		return nil, err
	}
	out := &Prediction{Run: r, MoE: m.MoE(), Waits: m.MoE() && !pl.Overlap.EP && e.Machine().ExpertWait() > 0, Arch: c.Device.Arch, Device: c.Device.Name, Steady: c.Device.Siblings.Steady, PerWatt: c.Device.PerWatt(), Result: res, gpu: c.Device, Sustained: e.Machine().Sustained()}
	out.Memory = engineOf(r).memory.in(&res.Memory)
	return out, nil
}

// ownShare tells whether the machine has a sustained share of its own, that of the engine which runs on it.
func (p *Predictor) ownShare() bool {
	if p.Machine == nil || p.Machine.Device.Kernels == nil {
		return false
	}
	k := p.Machine.Device.Kernels
	return !k.Sustained.Same(&catalog.Kernels(k.Arch).Sustained)
}

func (p *Predictor) evaluator(r *Run, j *plan.Job, c *hw.Cluster) (*train.Evaluator, error) {
	o := p.Options
	run := engineOf(r)
	if o.Attention == 0 {
		o.Attention = run.attention(c.Device.Arch)
	}
	o.CopyPerChoice = run.copies
	run.bridgeOptions(r, c.Device, c.Node.GPUs, &o)
	if run.share > 0 && o.Sustained == 0 && !p.ownShare() {
		m, err := cost.New(c, o)
		if err != nil {
			return nil, err
		}
		o.Sustained = run.share * m.Sustained()
	}
	return train.NewEvaluatorWith(j, c, 0, o)
}

// in is a memory table as the counter would show it.
func (c counter) in(t *mem.Parts) float64 {
	fixed := t[mem.Context] + t[mem.Buffers]
	n := float64(t.Total()-fixed) / (1 - c.cache)
	if !c.allocated {
		n += float64(fixed)
	}
	return n / float64(c.unit)
}

// memoryDoubt times the device's memory is what a run may be predicted to need
// before more recomputation is assumed: the run did fit, and of the 127 runs that state
// their memory two are predicted to need more than this times what they took
// (TestMemoryDoubt).
const memoryDoubt = 1.05

// evaluate takes the first recomputation that may have fitted, else the last.
func evaluate(e *train.Evaluator, p *plan.Plan, choices []plan.Recompute) (r *train.Result, err error) {
	for _, c := range choices {
		p.Recompute = c
		r, err = e.Evaluate(p)
		if err != nil || float64(r.Memory.Total()) <= memoryDoubt*float64(r.Limit)/train.DefaultMemoryLimit {
			break
		}
	}
	return r, err
}
