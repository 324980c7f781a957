package report

import (
	"github.com/ridgeline/ridgeline/internal/advise"
	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/mem"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/search"
	"github.com/ridgeline/ridgeline/internal/train"
)

// TrainDoc is the answer of `train` in JSON.
type TrainDoc struct {
	Model         string                `json:"model"`
	Cluster       string                `json:"cluster"`
	GlobalBatch   int                   `json:"global_batch"`
	Seq           int                   `json:"seq"`
	Precision     string                `json:"precision"`
	MTP           int                   `json:"mtp"`
	FLOPsPerToken float64               `json:"flops_per_token"`
	Best          PlanDoc               `json:"best"`
	Plans         []PlanDoc             `json:"plans"`
	Rejected      []RejectedDoc         `json:"rejected"`
	Searched      int64                 `json:"searched"`
	Counts        map[string]int64      `json:"counts"`
	Partial       bool                  `json:"partial"`
	Overall       *PlanDoc              `json:"overall_best,omitempty"`
	WhyNot        string                `json:"why_not,omitempty"`
	Precisions    []PrecisionDoc        `json:"precisions"`
	BreakEven     []BreakEvenDoc        `json:"break_even"`
	FSDP          *FSDPDoc              `json:"fsdp,omitempty"`
	Sweep         *SweepDoc             `json:"sweep,omitempty"`
	Budget        BudgetDoc             `json:"budget"`
	Published     *catalog.PublishedRun `json:"published,omitempty"`
	Warnings      []string              `json:"warnings"`
	Assumptions   []string              `json:"assumptions"`
	Notes         note.List             `json:"notes,omitempty"` // both with their kinds and figures
	Seconds       float64               `json:"search_seconds"`
}

// RejectedDoc is a plan that is not the answer, and how many share the reason.
type RejectedDoc struct {
	Name   string         `json:"name"`
	Plan   map[string]any `json:"plan"`
	Reason string         `json:"reason"`
	Count  int64          `json:"count"`
	Result *PlanDoc       `json:"result,omitempty"`
}

// PrecisionDoc is the best plan's layout under another precision.
type PrecisionDoc struct {
	Precision   string      `json:"precision"`
	StepSeconds float64     `json:"step_seconds"`
	SOL         SOLDoc      `json:"sol"`
	Ratio       float64     `json:"communication_over_compute"`
	Bound       train.Bound `json:"bound"`
}

// BreakEvenDoc is a figure with the value at which the verdict flips; SI units.
type BreakEvenDoc struct {
	What  string      `json:"what"`
	Unit  string      `json:"unit"`
	Now   float64     `json:"now"`
	Flip  *float64    `json:"flip"`
	Bound train.Bound `json:"bound"`
	Next  train.Bound `json:"next_bound,omitempty"`
	Note  string      `json:"note,omitempty"`
}

// FSDPDoc is what plain FSDP costs, by algorithm, and where it would pay.
type FSDPDoc struct {
	Plan       PlanDoc        `json:"plan"`
	Algorithms []AlgorithmDoc `json:"algorithms"`
	BreakEven  []BreakEvenDoc `json:"break_even"`
}

// AlgorithmDoc is the seconds per step that each link is busy.
type AlgorithmDoc struct {
	Name    string  `json:"name"`
	NVLink  float64 `json:"nvlink_seconds"`
	Network float64 `json:"network_seconds"`
}

// NewTrainDoc builds the document.
func NewTrainDoc(a *api.TrainAnswer) TrainDoc {
	r := a.Request
	d := TrainDoc{Model: r.Model.Name, Cluster: r.Cluster.Name, GlobalBatch: r.GlobalBatch, Seq: r.Seq,
		Precision: r.Precision.Name, MTP: r.MTP, FLOPsPerToken: float64(a.Best.FLOPsPerToken), Best: planDoc(a, a.Best),
		Plans: []PlanDoc{}, Rejected: rejected(a), Searched: a.Outcome.Count.Evaluated(), Counts: counts(&a.Outcome.Count),
		Partial: a.Outcome.Partial, WhyNot: a.WhyNot, Precisions: []PrecisionDoc{}, BreakEven: breakEvens(a.BreakEvens),
		Budget: newBudgetDoc(a), Published: a.Published, Warnings: a.Warnings.Texts(), Assumptions: a.Assumptions.Texts(), Notes: a.Warnings.And(a.Assumptions...),
		Seconds: a.Elapsed.Seconds()}
	for _, p := range a.Plans {
		d.Plans = append(d.Plans, planDoc(a, p))
	}
	if a.Overall != nil {
		o := planDoc(a, a.Overall)
		d.Overall = &o
	}
	for _, p := range a.Precisions {
		d.Precisions = append(d.Precisions, PrecisionDoc{p.Precision, float64(p.Result.Step), solDoc(&p.Result.Ceilings), p.Ratio, p.Result.Bound})
	}
	if a.Sweep != nil {
		d.Sweep = NewSweepDoc(a.Sweep)
	}
	if a.FSDP != nil {
		d.FSDP = &FSDPDoc{Plan: planDoc(a, a.FSDP), Algorithms: algorithms(a.FSDPSharding), BreakEven: breakEvens(a.FSDPEvens)}
	}
	return d
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// rejected lists the named alternatives first, then one example per cause.
func rejected(a *api.TrainAnswer) []RejectedDoc {
	list := []RejectedDoc{}
	for _, x := range a.Alternatives {
		r := RejectedDoc{Name: x.Name, Plan: map[string]any{}, Reason: x.Reason, Count: 1}
		if x.Plan != nil {
			r.Plan = planKeys(&x.Plan.Plan)
			p := planDoc(a, x.Plan)
			r.Result = &p
		}
		list = append(list, r)
	}
	for c, p := range a.Outcome.Examples {
		if p != nil {
			list = append(list, RejectedDoc{Name: plan.Cause(c).String(), Plan: planKeys(p), Reason: a.Explain(plan.Cause(c)), Count: a.Outcome.Count.Illegal[c]})
		}
	}
	return list
}

func counts(c *search.Count) map[string]int64 {
	m := map[string]int64{"too_large": c.TooLarge, "pruned_by_bound": c.Pruned, "laid_out": c.LaidOut}
	for i, n := range c.Illegal {
		if n > 0 {
			m["illegal: "+plan.Cause(i).String()] = n
		}
	}
	return m
}

func breakEvens(list []advise.BreakEven) []BreakEvenDoc {
	docs := []BreakEvenDoc{}
	for _, b := range list {
		d := BreakEvenDoc{What: b.What, Unit: b.Unit, Now: b.Now, Bound: b.Bound, Next: b.Next, Note: b.Note}
		if b.Flip > 0 {
			d.Flip = &b.Flip
		}
		docs = append(docs, d)
	}
	return docs
}

func algorithms(list []train.Algorithm) []AlgorithmDoc {
	docs := []AlgorithmDoc{}
	for _, x := range list {
		docs = append(docs, AlgorithmDoc{x.Name, float64(x.NVLink), float64(x.Network)})
	}
	return docs
}

// memoryDoc is bytes per GPU by part.
func memoryDoc(t *mem.Parts) map[string]int64 {
	m := map[string]int64{}
	for p := range mem.NumParts {
		m[p.String()] = int64(t[p])
	}
	return m
}
