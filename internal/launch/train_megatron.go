package launch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// defaultIterations is written where the length of the run is not given; the notes
// say so.
const defaultIterations = 50

// standInRate is a learning rate for runs that measure a plan.
const standInRate = "1e-4"

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
	iterations := t.steps()
	if iterations == 0 {
		iterations = defaultIterations
		b.note("--train-iters %d is a stand-in: give --tokens for the whole run", defaultIterations)
	}
	a.add("--train-iters", strconv.FormatInt(iterations, 10), "--lr", standInRate)
	b.note("--lr %s is a stand-in, without which Megatron-LM does not start: take your recipe's", standInRate)
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
	if p.ZeRO >= 2 { // as Megatron-FSDP demands (examples/megatron_fsdp)
		a.add("--ckpt-format", "fsdp_dtensor", "--no-gradient-accumulation-fusion")
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
	name, _, _ := strings.Cut(p.Precision.Name, ",")
	switch name {
	case "", "bf16":
		a.add("--bf16")
	case "fp16":
		a.add("--fp16")
	case "fp8": // E4M3 everywhere and block scales (arXiv:2412.19437 section 3.3.2)
		a.add("--bf16", "--fp8-format", "e4m3", "--fp8-recipe", "blockwise")
	case "fp8-tensor":
		a.add("--bf16", "--fp8-format", "hybrid", "--fp8-recipe", "tensorwise")
	case "mxfp8":
		a.add("--bf16", "--fp8-format", "e4m3", "--fp8-recipe", "mxfp8")
	case "nvfp4":
		a.add("--bf16", "--fp4-format", "e2m1", "--fp4-recipe", "nvfp4")
	default:
		return b.lacks("precision "+p.Precision.Name, "")
	}
	return b.megatronStates(p, a)
}

// megatronStates writes the formats of gradients and optimizer states that are not
// FP32, Megatron-LM's default.
func (b *builder) megatronStates(p *plan.Plan, a *args) error {
	var states []string
	for _, s := range []struct {
		part   string
		format unit.Format
		flags  []string
	}{
		{"moments", p.Precision.Moment, []string{"--exp-avg-dtype", "--exp-avg-sq-dtype"}},
		{"gradients", p.Precision.Gradients, []string{"--main-grads-dtype"}},
		{"master weights", p.Precision.Master, []string{"--main-params-dtype"}},
	} {
		if s.format == unit.FP32 || p.Precision.Name == "" {
			continue
		}
		for _, flag := range s.flags {
			f, word := b.list.Flag(flag), s.format.String()
			if f == nil || !slices.Contains(f.Choices, word) {
				return b.lacks(s.part+" in "+word, "")
			}
			states = append(states, flag, word)
		}
	}
	if p.Precision.GradReduce != p.Precision.Gradients && p.DP > 1 {
		b.note("the policy reduces gradients in %s; Megatron-LM reduces them in the format in which it accumulates them, %s", p.Precision.GradReduce, p.Precision.Gradients)
	}
	if len(states) == 0 {
		return nil
	}
	if p.ZeRO == 0 {
		return fmt.Errorf("megatron-lm keeps states in %s only in its distributed optimizer: use zero=1, or a precision with FP32 states", states[1])
	}
	a.add("--use-precision-aware-optimizer")
	a.add(states...)
	return nil
}
