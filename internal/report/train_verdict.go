package report

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/mem"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// trainVerdict says which plan, how fast and what stops it from being faster.
func trainVerdict(p *Page, a *api.TrainAnswer) {
	r := a.Best
	switch {
	case !r.Fits:
		p.section("Verdict: %s", misfitTitle(a))
		p.Text(0, "%s", misfitText(r))
	case a.Outcome.Partial:
		p.section("Verdict so far: the search was interrupted")
	case named(a):
		p.section("Verdict: the best plan with the named keys")
	default:
		p.section("Verdict: the best plan")
	}
	p.planLine(2, r.Plan.String())
	if !r.Fits {
		p.Text(0, "The figures below are that plan's, as if it did fit.")
	}
	p.Text(0, "%s", boundText(r))
	low, high := r.Range80()
	p.Facts(
		[2]string{"step", fmt.Sprintf("%s; at least %s (all overlapped), at most %s (nothing overlapped)", sec(r.Step), sec(r.Lower), sec(r.Upper))},
		[2]string{"range", fmt.Sprintf("four in five measured steps lie between %s and %s", sec(low), sec(high))},
		[2]string{"throughput", fmt.Sprintf("%s tokens/s per GPU, %s tokens/s in all", whole(r.TokensPerSecondPerGPU()),
			whole(r.TokensPerSecondPerGPU()*float64(r.Plan.GPUs())))},
		[2]string{"MFU", fmt.Sprintf("%s: model FLOPs with causal attention, without recomputation, over the dense 16-bit peak of %s%s",
			unit.FormatPercent(r.MFU()), unit.FormatFLOPRate(r.Peak), frozenText(r.Plan.Tuning))},
		[2]string{"HFU", unit.FormatPercent(r.HFU()) + ": what the GPUs execute, recomputation included, over the same peak"},
		[2]string{"micro-batches", fmt.Sprintf("%d per pipeline and step", r.MicroBatches)},
	)
}

// frozenText says what adapters leave out of the model FLOPs.
func frozenText(t plan.Tuning) string {
	if t == plan.FullTraining {
		return ""
	}
	return "; frozen weights count no gradients of their own"
}

func sec(t unit.Seconds) string { return unit.FormatStep(t) }

// least is the shortest time that a page shows: differences of sums leave less.
const least = unit.LeastStep

// whole prints a number of tokens, steps or hours: grouped digits below a million.
func whole(n float64) string {
	if n < 1e6 {
		return Grouped(int64(n + 0.5))
	}
	return unit.FormatCount(int64(n))
}

// named tells whether the user fixed keys of the plan.
func named(a *api.TrainAnswer) bool { return a.Request.Fixed != nil && a.Request.Fixed.Any() }

func misfitTitle(a *api.TrainAnswer) string {
	if named(a) {
		return "no plan with the named keys fits"
	}
	return "no plan fits"
}

// misfitText says what the nearest plan lacks and whether offloading cures it.
func misfitText(r *train.Result) string {
	need := r.Memory.Total()
	s := fmt.Sprintf("The plan that comes nearest needs %s per GPU, %s more than the %s usable.", unit.FormatGB(need),
		unit.FormatGB(need-r.Limit), unit.FormatGB(r.Limit))
	if n := r.Memory[mem.Optimizer]; !r.Plan.OffloadOptim && n > 0 && need-n <= r.Limit {
		s += fmt.Sprintf(" With the optimizer states (%s) in host memory it would fit: try --plan offload=optimizer.", unit.FormatGB(n))
	}
	return s
}

// boundName is a bound in words: what interfaces call nvlink is the scale-up link
// of whatever kind the node has.
func boundName(b train.Bound) string {
	if b == train.BoundNVLink {
		return "scale-up link"
	}
	return string(b)
}

// boundText says in one sentence what the step waits for.
func boundText(r *train.Result) string {
	c := &r.Ceilings
	switch r.Bound {
	case train.BoundCompute:
		return fmt.Sprintf("A step takes %s. It is compute-bound: the matrix units alone need %s at their achieved rates.", sec(r.Step), sec(c.Compute))
	case train.BoundHBM:
		return fmt.Sprintf("A step takes %s. It is bound by memory bandwidth: HBM traffic alone needs %s.", sec(r.Step), sec(c.HBM))
	case train.BoundNVLink:
		return linkText(r, "scale-up link", c.NVLink)
	case train.BoundNetwork:
		return linkText(r, "network", c.Network)
	case train.BoundBubble:
		return fmt.Sprintf("A step takes %s. It is bound by the pipeline bubble: the busiest rank idles %s of it.", sec(r.Step), sec(r.Waits[train.WaitBubble]))
	}
	return fmt.Sprintf("A step takes %s. It is %s-bound.", sec(r.Step), r.Bound)
}

func linkText(r *train.Result, name string, busy unit.Seconds) string {
	return fmt.Sprintf("A step takes %s. It is communication-bound: the %s (%s) is busy %s of it, against %s of compute.",
		sec(r.Step), name, r.Link, sec(busy), sec(r.Ceilings.Compute))
}
