package validate

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/mem"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/modelfile"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Prediction is one run predicted.
type Prediction struct {
	Run   *Run
	MoE   bool
	Waits bool   // its step shows the wait for routed experts
	Arch  string // GPU generation

	Device string // catalogue name
	Result *train.Result
	// Memory is the prediction in the unit and the scope of the run's own figure.
	Memory float64
}

// TokensPerSecondPerGPU is the predicted throughput.
func (p *Prediction) TokensPerSecondPerGPU() float64 { return p.Result.TokensPerSecondPerGPU() }

// Predictor predicts runs. The zero value knows the catalogue's models.
type Predictor struct {
	Configs string // folder of Hugging Face configurations, "" = none
	Options cost.Options
}

// Predict predicts one run from its description. The error says in one line
// what stands in the way.
func (p *Predictor) Predict(r *Run) (*Prediction, error) {
	m, err := p.model(r)
	if err != nil {
		return nil, err
	}
	c, err := catalog.Cluster(fmt.Sprintf("%sx%d", r.GPU, r.GPUs))
	if err != nil {
		return nil, wrong(err, "gpu")
	}
	if err := r.check(m); err != nil {
		return nil, err
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
	out := &Prediction{Run: r, MoE: m.MoE(), Waits: m.MoE() && !pl.Overlap.EP && e.Machine().ExpertWait() > 0, Arch: c.Device.Arch, Device: c.Device.Name, Result: res}
	out.Memory = engineOf(r).memory.in(&res.Memory)
	return out, nil
}

// check refuses what no plan of the run's model and GPUs can have, before it is
// multiplied or left out.
func (r *Run) check(m *model.Model) error {
	for _, d := range []struct {
		name string
		n    int
	}{{"tp", r.TP}, {"pp", r.PP}, {"cp", r.CP}, {"ep", r.EP}, {"dp", r.DP}, {"shard_group", r.ShardGroup}} {
		if d.n > r.GPUs {
			return wrong(fmt.Errorf("%d on %d GPUs: give at most as many", d.n, r.GPUs), d.name, "gpus")
		}
	}
	switch {
	case r.ZeRO > 3:
		return wrong(fmt.Errorf("%d: give 0, 1, 2 or 3", r.ZeRO), "zero")
	case r.MTP > len(m.MTP):
		return wrong(fmt.Errorf("%d, and %s has %d MTP modules: give at most as many", r.MTP, m.Name, len(m.MTP)), "mtp")
	case float64(r.TP)*float64(r.PP)*float64(r.CP) > float64(r.GPUs):
		return wrong(fmt.Errorf("%d x %d x %d are more than %d: correct one of them", r.TP, r.PP, r.CP, r.GPUs), "tp", "pp", "cp", "gpus")
	case r.DP > 0 && r.TP*r.PP*r.CP*r.DP != r.GPUs: // each is at most gpus, and tp x pp x cp too
		return wrong(fmt.Errorf("%d x %d x %d x %d = %d do not make %d: correct one of them", r.TP, r.PP, r.CP, r.DP, r.TP*r.PP*r.CP*r.DP, r.GPUs), "tp", "pp", "cp", "dp", "gpus")
	}
	return nil
}

func (p *Predictor) evaluator(r *Run, j *plan.Job, c *hw.Cluster) (*train.Evaluator, error) {
	o := p.Options
	if engineOf(r).older && o.Attention == 0 {
		o.Attention = olderAttention[c.Device.Arch]
	}
	run := engineOf(r)
	o.CopyPerChoice = run.copies
	run.bridgeOptions(r, c.Device, c.Node.GPUs, &o)
	if share := engineOf(r).share; share > 0 && o.Sustained == 0 {
		o.Sustained = share * sustained(c.Device)
	}
	return train.NewEvaluatorWith(j, c, 0, o)
}

// sustained is the share of a device's speed that steps of the Megatron family hold.
func sustained(d *hw.Device) float64 {
	if d.Kernels == nil {
		return 1
	}
	return d.Kernels.Sustained.Of(d.Name)
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

// model finds the run's architecture: a catalogue name with arch_params over it,
// an id in the configurations' folder, or arch_params alone.
func (p *Predictor) model(r *Run) (*model.Model, error) {
	of := func(m *model.Model, err error) (*model.Model, error) {
		if err != nil {
			return nil, wrong(err, "arch_params")
		}
		return m, nil
	}
	if p.Configs != "" && strings.Contains(r.Model, "/") {
		m, err := modelfile.Find(r.Model, p.Configs)
		if err != nil {
			return nil, wrong(err, "model")
		}
		return of(modelfile.Override(m, r.ArchParams))
	}
	m, err := catalog.Model(r.Model)
	switch {
	case err == nil && r.ArchParams != "":
		return of(modelfile.Override(m, r.ArchParams))
	case err == nil:
		return m, nil
	case r.ArchParams == "":
		return nil, wrong(err, "model")
	}
	return of(modelfile.FromArchParams(r.Model, r.ArchParams))
}

// planOf is the run's layout as a plan, recomputation apart.
func planOf(r *Run, j *plan.Job) (*plan.Plan, error) {
	e := engineOf(r)
	p := &plan.Plan{TP: r.TP, CP: r.CP, PP: r.PP, DP: r.DP, VPP: r.VPP, EP: r.EP, ETP: 1, ZeRO: r.ZeRO, MicroBatch: r.MicroBatch,
		SP: r.TP > 1 && !e.wholeRows, Overlap: e.overlap, UnfusedAttn: e.unfused}
	var err error
	if p.Precision, err = precisionOf(r); err != nil {
		return nil, wrong(err, "precision")
	}
	if e.halfGrads {
		settleGradients(&p.Precision)
	}
	if p.DP < 0 {
		p.DP = r.GPUs / (p.TP * p.CP * p.PP)
	}
	if p.ZeRO < 0 {
		p.ZeRO = 1 // Megatron's distributed optimizer (README of training_runs.csv)
	}
	if p.ZeRO == 3 && r.ShardGroup > 0 && r.ShardGroup < p.DP*p.CP {
		p.ShardGroup = r.ShardGroup
	}
	if err := schedule(r, p, len(j.Model.Layers)); err != nil {
		return nil, wrong(err, "schedule")
	}
	return p, settleExperts(p, j)
}

// precisionOf maps a table's word to a policy. Transformer Engine's per-tensor
// recipe is what Megatron calls fp8; DualPipe belongs to DeepSeek's own.
func precisionOf(r *Run) (plan.Precision, error) {
	word := strings.ToLower(r.Precision)
	if word == "fp8" && !strings.HasPrefix(r.Schedule, "dualpipe") {
		word = "fp8-tensor"
	}
	return plan.ParsePrecision(word)
}

// settleGradients is DeepSpeed's: FP16 accumulates in FP16 (arXiv:1910.02054 section 3.1),
// BF16 produces BF16 gradients and adds them to FP32 ones beside (runtime/bf16_optimizer.py).
func settleGradients(p *plan.Precision) {
	if p.GEMM == unit.FP16 {
		p.Gradients, p.GradReduce = unit.FP16, unit.FP16
		return
	}
	p.Produced = unit.BF16
}

// schedule sets the pipeline schedule: the run's own, interleaved where it has
// virtual stages, else 1F1B. An interleaved run that does not say how many takes
// as many as its layers allow, embedding and head counted as one each, which is
// how the Zero Bubble runs are cut (22 layers over 8 stages: 3 chunks each).
func schedule(r *Run, p *plan.Plan, layers int) error {
	p.Schedule = sched.OneFOneB
	if r.VPP > 1 {
		p.Schedule = sched.Interleaved
	}
	if r.Schedule != "" {
		k, ok := sched.ParseKind(strings.ToLower(r.Schedule))
		if !ok {
			return fmt.Errorf("%q is unknown: `ridgeline schedule --help` lists all", r.Schedule)
		}
		p.Schedule = k
	}
	if p.Schedule == sched.Interleaved && p.VPP == 1 {
		p.VPP = (layers + 2) / p.PP
	}
	return nil
}

// settleExperts gives expert-tensor parallelism Megatron's default, tp, or the
// largest divisor of it with which the plan is legal. Experts narrower than the
// hidden size are taken to be whole: nobody splits them further.
func settleExperts(p *plan.Plan, j *plan.Job) error {
	c, most := plan.Legal, 1
	if moe := j.Model.FirstMoE(); moe != nil && moe.ExpertInner >= j.Model.Hidden {
		most = p.TP
	}
	for etp := most; etp >= 1; etp-- {
		if p.TP%etp != 0 {
			continue
		}
		p.ETP = etp
		if c = p.Check(j); c == plan.Legal {
			return nil
		}
	}
	return wrong(p.Explain(c, j), causeColumns[c]...)
}

// causeColumns are the columns that an illegal plan comes from.
var causeColumns = map[plan.Cause][]string{
	plan.BadWorld: {"tp", "pp", "cp", "dp", "gpus"}, plan.BadLayers: {"pp", "vpp"}, plan.BadHeads: {"tp", "cp"}, plan.BadExperts: {"ep"},
	plan.BadDegree: {"tp", "pp", "vpp", "cp", "ep", "dp", "micro_batch"}, plan.BadSequence: {"seq_len", "cp", "tp"}, plan.BadCombination: {"tp", "pp", "cp", "ep", "zero", "shard_group"},
	plan.BadBatch: {"global_batch_seqs", "dp", "micro_batch"}, plan.BadSchedule: {"schedule", "pp", "vpp"}, plan.BadShard: {"zero", "shard_group"},
}

// recomputations are the candidates for a run, the least first. What Megatron-LM calls
// selective recomputes unfused attention (arXiv:2205.05198).
func recomputations(r *Run, m *model.Model, unfused bool) ([]plan.Recompute, error) {
	selective := plan.ReSelective
	if unfused {
		selective = plan.ReAttention
	}
	if r.Recompute != "" {
		c, ok := plan.ParseRecompute(strings.ToLower(r.Recompute))
		if !ok {
			return nil, fmt.Errorf("recompute %q is unknown: use none, selective, full or modules joined by +", r.Recompute)
		}
		if c == plan.ReSelective {
			c = selective
		}
		return []plan.Recompute{c}, nil
	}
	list := []plan.Recompute{plan.ReNone, selective}
	if m.MoE() {
		list = append(list, selective|plan.ReMoE)
	}
	return append(list, plan.ReFull), nil
}

// memoryDoubt times the device's memory is what a run may be predicted to need
// before more recomputation is assumed: the run did fit, and the memory of the
// runs that state it is predicted to 10 % (docs/accuracy.md).
const memoryDoubt = 1.1

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
