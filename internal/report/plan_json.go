package report

import (
	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/train"
)

// PlanDoc is one plan's answer in JSON.
type PlanDoc struct {
	Plan           map[string]any     `json:"plan"`
	Text           string             `json:"text"` // Plan as --plan reads it
	Fits           bool               `json:"fits"`
	MemoryBytes    int64              `json:"memory_bytes_per_gpu"`
	MemoryLimit    int64              `json:"memory_limit_bytes"`
	MemoryRank     int                `json:"memory_rank"`
	Memory         map[string]int64   `json:"memory"`
	Step           float64            `json:"step_seconds"`
	Lower          float64            `json:"lower_seconds"`
	Upper          float64            `json:"upper_seconds"`
	Range80        RangeDoc           `json:"range_80"`
	TokensPerGPU   float64            `json:"tokens_per_second_per_gpu"`
	MFU            float64            `json:"mfu"`
	HFU            float64            `json:"hfu"`
	MFUConvention  string             `json:"mfu_convention"`
	Bound          train.Bound        `json:"bound"`
	BoundLink      string             `json:"bound_link"`
	BoundLinkKind  string             `json:"bound_link_kind"`
	BoundLinkRate  float64            `json:"bound_link_bytes_per_second"` // per GPU and direction
	SOL            SOLDoc             `json:"sol"`
	Exposed        map[string]float64 `json:"exposed"`
	Kernels        float64            `json:"kernel_seconds"`
	Anatomy        AnatomyDoc         `json:"anatomy"`
	MicroBatches   int                `json:"microbatches"`
	GPUHours       *float64           `json:"gpu_hours"`
	Days           *float64           `json:"days"`
	Cost           *float64           `json:"cost_usd"`
	HoursPerTokens float64            `json:"gpu_hours_per_trillion_tokens"`
	Warnings       []string           `json:"warnings"`
	Notes          note.List          `json:"notes,omitempty"` // the same with their kinds and figures
}

// PricedDoc is plans of a list, in its order.
type PricedDoc struct {
	Plans []PricedPlanDoc `json:"plans"`
}

// PricedPlanDoc is one of them, or why it is not legal.
type PricedPlanDoc struct {
	Plan  *PlanDoc `json:"plan"`
	Error string   `json:"error,omitempty"`
}

// NewPricedDoc builds the document.
func NewPricedDoc(list []api.PricedPlan) PricedDoc {
	d := PricedDoc{Plans: []PricedPlanDoc{}}
	for _, x := range list {
		var p PricedPlanDoc
		if x.Err != nil {
			p.Error = x.Err.Error()
		} else {
			doc := planDoc(x.Answer, x.Answer.Best)
			p.Plan = &doc
		}
		d.Plans = append(d.Plans, p)
	}
	return d
}

// RangeDoc is the step times between which four in five measured ones should lie.
type RangeDoc struct {
	Low  float64 `json:"low_seconds"`
	High float64 `json:"high_seconds"`
}

func rangeDoc(r *train.Result) RangeDoc {
	low, high := r.Range80()
	return RangeDoc{float64(low), float64(high)}
}

// SOLDoc is the speed of light: seconds per step of each resource alone.
type SOLDoc struct {
	Compute float64 `json:"compute_seconds"`
	HBM     float64 `json:"hbm_seconds"`
	NVLink  float64 `json:"nvlink_seconds"`
	Network float64 `json:"network_seconds"`
}

// AnatomyDoc is the mean pipeline rank's step by kind of pass.
type AnatomyDoc struct {
	Forward   float64 `json:"forward"`
	Backward  float64 `json:"backward"`
	Weight    float64 `json:"weight"`
	Pairs     float64 `json:"pairs"`
	Bubble    float64 `json:"bubble"`
	Optimizer float64 `json:"optimizer"`
}

// BudgetDoc is a whole run.
type BudgetDoc struct {
	StepSeconds      float64  `json:"step_seconds"` // the estimate, or what --step-time said
	HoursPerTrillion float64  `json:"gpu_hours_per_trillion_tokens"`
	Steps            *float64 `json:"steps"` // this and the following are null without --tokens
	GPUHours         *float64 `json:"gpu_hours"`
	Days             *float64 `json:"days"`
	Cost             *float64 `json:"cost_usd"`
	EnergyMWh        *float64 `json:"energy_mwh"`
	DaysFailing      *float64 `json:"days_with_failures,omitempty"`
	Useful           *float64 `json:"useful_share,omitempty"`
	Interval         *float64 `json:"checkpoint_interval_seconds,omitempty"`
}

const mfuConvention = "model FLOPs with causal attention, without recomputation, over the dense BF16 peak"

func planDoc(a *api.TrainAnswer, r *train.Result) PlanDoc {
	d := PlanDoc{Plan: planKeys(&r.Plan), Text: r.Plan.String(), Fits: r.Fits, MemoryBytes: int64(r.Memory.Total()), MemoryLimit: int64(r.Limit),
		MemoryRank: r.MemoryRank, Memory: memoryDoc(&r.Memory), Step: float64(r.Step), Lower: float64(r.Lower), Upper: float64(r.Upper), Range80: rangeDoc(r),
		TokensPerGPU: r.TokensPerSecondPerGPU(), MFU: r.MFU(), HFU: r.HFU(), MFUConvention: mfuConvention,
		Bound: r.Bound, BoundLink: r.Link, BoundLinkKind: r.LinkKind, BoundLinkRate: float64(r.LinkRate), SOL: solDoc(&r.Ceilings), Exposed: exposedDoc(r), Kernels: float64(r.Kernels()),
		Anatomy: AnatomyDoc{float64(r.Anatomy.Forward), float64(r.Anatomy.Backward), float64(r.Anatomy.Weight),
			float64(r.Anatomy.Pairs), float64(r.Anatomy.Bubble), float64(r.Anatomy.Optimizer)},
		MicroBatches: r.MicroBatches, Warnings: r.Warnings.Texts(), Notes: r.Warnings}
	t := a.Request.Terms
	b, err := r.Budget(t)
	d.HoursPerTokens = b.HoursPerTrillion
	if err == nil && t.Tokens > 0 {
		d.GPUHours, d.Days = &b.GPUHours, &b.Days
		if t.Price > 0 {
			d.Cost = &b.Cost
		}
	}
	return d
}

func solDoc(c *train.Ceilings) SOLDoc {
	return SOLDoc{float64(c.Compute), float64(c.HBM), float64(c.NVLink), float64(c.Network)}
}

func newBudgetDoc(a *api.TrainAnswer) BudgetDoc {
	b, t := &a.Budget, a.Request.Terms
	d := BudgetDoc{HoursPerTrillion: b.HoursPerTrillion, StepSeconds: float64(a.Best.Step)}
	if t.StepOverride > 0 {
		d.StepSeconds = float64(t.StepOverride)
	}
	if t.Tokens > 0 {
		d.Steps, d.GPUHours, d.Days = &b.Steps, &b.GPUHours, &b.Days
		if t.Price > 0 {
			d.Cost = &b.Cost
		}
		if t.PowerPerGPU > 0 {
			d.EnergyMWh = &b.EnergyMWh
		}
	}
	if b.DaysFailing > 0 {
		interval := float64(b.Interval)
		d.DaysFailing, d.Useful, d.Interval = &b.DaysFailing, &b.Useful, &interval
	}
	return d
}

// planKeys states every key of a plan as a number or a word.
func planKeys(p *plan.Plan) map[string]any {
	flag := func(on bool) int {
		if on {
			return 1
		}
		return 0
	}
	word := func(on bool, yes, no string) string {
		if on {
			return yes
		}
		return no
	}
	alone := p.ZeRO == 3 && p.TP*p.PP*p.CP*p.EP == 1
	return map[string]any{"tp": p.TP, "pp": p.PP, "vpp": p.VPP, "dp": p.DP, "cp": p.CP, "ep": p.EP, "etp": p.ETP, "zero": p.ZeRO,
		"fsdp": flag(alone), "shard": p.ShardGroup, "schedule": p.Schedule.String(), "mbs": p.MicroBatch, "recompute": p.Recompute.String(),
		"sp": flag(p.SP), "cpcomm": word(p.CPAllToAll, "a2a", "ring"), "overlap": p.Overlap.String(),
		"offload": word(p.OffloadOptim, "optimizer", "none"), "tuning": p.Tuning.String(), "rank": p.LoRARank,
		"attention": word(p.UnfusedAttn, "unfused", "flash"), "precision": p.Precision.Name}
}
