package launch

import (
	"fmt"
	"strconv"

	"github.com/ridgeline/ridgeline/internal/plan"
)

// defaultIterations is written where the length of the run is not given; the notes
// say so.
const defaultIterations = 50

// megatron writes the arguments of Megatron-LM's pretrain_gpt.py.
func (b *builder) megatron(p *plan.Plan, a *args) error {
	paired, err := b.interleave(p)
	if err != nil {
		return err
	}
	d := Degrees{TP: p.TP, PP: p.PP, CP: p.CP, EP: p.EP, SP: p.SP}
	if b.Model.MoE() {
		d.ETP = p.ETP
	}
	if d.Layout, err = b.layout(p); err != nil {
		return err
	}
	if p.VPP > 1 {
		d.VPP = p.VPP
	}
	if p.ZeRO >= 2 {
		d.FSDP = true
	}
	a.add(d.Flags(b.Engine)...)
	if err := b.megatronSharding(p, a); err != nil {
		return err
	}
	if p.CPAllToAll && p.CP > 1 {
		a.add("--cp-comm-type", "a2a")
	}
	b.megatronOverlap(p, a, paired)
	megatronRecompute(p, a)
	if err := b.megatronPrecision(p, a); err != nil {
		return err
	}
	t := &b.Train
	a.add("--micro-batch-size", strconv.Itoa(p.MicroBatch), "--global-batch-size", strconv.Itoa(t.GlobalBatch), "--seq-length", strconv.Itoa(t.Seq))
	iterations := int64(defaultIterations)
	if t.Tokens > 0 {
		step := int64(t.GlobalBatch) * int64(t.Seq)
		iterations = (t.Tokens + step - 1) / step
	} else {
		b.note("--train-iters %d is a stand-in: give --tokens for the whole run", defaultIterations)
	}
	a.add("--train-iters", strconv.FormatInt(iterations, 10))
	return b.megatronModel(p, a)
}

// megatronSharding writes ZeRO: 1 is the distributed optimizer, 2 and 3 are
// Megatron-FSDP's sharding of gradients and parameters.
func (b *builder) megatronSharding(p *plan.Plan, a *args) error {
	switch p.ZeRO {
	case 1:
		a.add("--use-distributed-optimizer")
	case 2:
		a.add("--use-distributed-optimizer", "--data-parallel-sharding-strategy", "optim_grads")
	case 3:
		a.add("--use-distributed-optimizer", "--data-parallel-sharding-strategy", "optim_grads_params")
	}
	if p.ShardGroup > 0 {
		replicas := p.DP * p.CP
		if replicas%p.ShardGroup != 0 {
			return fmt.Errorf("shard=%d does not divide dp x cp = %d: use a divisor", p.ShardGroup, replicas)
		}
		a.add("--num-distributed-optimizer-instances", strconv.Itoa(replicas/p.ShardGroup))
	}
	if p.OffloadOptim {
		a.add("--optimizer-cpu-offload")
	}
	return nil
}

func (b *builder) megatronOverlap(p *plan.Plan, a *args, paired bool) {
	if p.Overlap.DP && p.ZeRO > 0 && p.DP*p.CP > 1 {
		a.add("--overlap-grad-reduce", "--overlap-param-gather")
	}
	if p.Overlap.TP && p.TP > 1 && p.SP {
		a.add("--tp-comm-overlap")
	}
	if !p.Overlap.PP && p.PP > 1 {
		a.add("--no-overlap-p2p-communication")
	}
	if paired {
		a.add("--overlap-moe-expert-parallel-comm", "--delay-wgrad-compute")
	}
}

func megatronRecompute(p *plan.Plan, a *args) {
	switch {
	case p.Recompute&plan.ReFull != 0:
		a.add("--recompute-granularity", "full", "--recompute-method", "uniform", "--recompute-num-layers", "1")
	case p.Recompute != plan.ReNone:
		a.add("--recompute-granularity", "selective", "--recompute-modules")
		a.add(recomputeModules(p.Recompute)...)
	}
}

// recomputeModules are Megatron-LM's names of the modules of a set.
func recomputeModules(r plan.Recompute) (names []string) {
	for _, m := range recomputed {
		if bit, ok := plan.ParseRecompute(m.word); ok && r&bit != 0 {
			names = append(names, m.megatron)
		}
	}
	return names
}

// megatronPrecision writes the formats of package plan's policies.
func (b *builder) megatronPrecision(p *plan.Plan, a *args) error {
	switch p.Precision.Name {
	case "", "bf16":
		a.add("--bf16")
	case "fp16":
		a.add("--fp16")
	case "fp8": // E4M3 everywhere and block scales (arXiv:2412.19437 section 3.3.2)
		a.add("--bf16", "--fp8-format", "e4m3", "--fp8-recipe", "blockwise",
			"--use-precision-aware-optimizer", "--exp-avg-dtype", "bf16", "--exp-avg-sq-dtype", "bf16")
	case "fp8-tensor":
		a.add("--bf16", "--fp8-format", "hybrid", "--fp8-recipe", "tensorwise")
	case "mxfp8":
		a.add("--bf16", "--fp8-format", "e4m3", "--fp8-recipe", "mxfp8")
	case "nvfp4":
		a.add("--bf16", "--fp4-format", "e2m1", "--fp4-recipe", "nvfp4")
	default:
		return b.lacks("precision "+p.Precision.Name, "")
	}
	return nil
}
