package report

import (
	"fmt"
	"strconv"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// InferOperations draws one table per step, its operations grouped by part.
func InferOperations(p *Page, a *api.InferAnswer, steps []api.Explained) {
	b := a.Best.Best
	p.Heading("%s on %s, operation by operation", a.Request.Model.Name, a.Best.Variant.Cluster.Name)
	p.planLine(2, b.Layout.String())
	p.Text(0, "One GPU; equal layers together, so FLOPs, bytes and times are of a whole step, each operation by itself: lower is at achieved rates "+
		"without overheads, upper with everything at its worst. Bytes are HBM traffic, of a collective what is sent; an exchange between nodes "+
		"waits for half a round trip in a row of its own. "+whatBinds)
	for i := range steps {
		stepTable(p, &steps[i])
	}
	if !b.Fits {
		p.section("Nothing fits")
		p.Text(0, "The nearest layout needs %s per GPU of %s usable.", unit.FormatGB(b.Need), unit.FormatGB(b.Memory.Budget))
	}
}

func stepTable(p *Page, x *api.Explained) {
	switch {
	case x.Batch.Prefill > 0:
		p.section("Prefill: %s tokens of one prompt, in %s", Grouped(x.Batch.Prefill), unit.FormatSeconds(x.Step.Total))
	case x.Batch.Draft > 0:
		p.section("Decode: %s of %s tokens each, %d drafts verified, in %s without the drafter", Plural(int64(x.Batch.Decode), "sequence"),
			Grouped(x.Batch.DecodeContext/int64(x.Batch.Decode)), x.Batch.Draft, unit.FormatSeconds(x.Step.Total))
	default:
		p.section("Decode: %s of %s tokens each, in %s", Plural(int64(x.Batch.Decode), "sequence"),
			Grouped(x.Batch.DecodeContext/int64(x.Batch.Decode)), unit.FormatSeconds(x.Step.Total))
	}
	var cells [][]string
	var all sum
	for part := range infer.NumParts {
		var s sum
		var rows [][]string
		for i := range x.Rows {
			r := &x.Rows[i]
			if r.Part != part {
				continue
			}
			for _, to := range []*sum{&s, &all} {
				to.flops += r.FLOPs
				to.lower += r.Floor
				to.estimate += r.Total
				to.upper += r.Upper
			}
			rows = append(rows, servingRow(r))
		}
		if len(rows) > 0 {
			cells = append(append(cells, s.row(part.String())), rows...)
		}
	}
	cells = append(cells, all.row("step"))
	p.Table([]Column{Left("operation"), Right("FLOP"), Right("bytes"), Right("FLOP/B"), Right("lower"), Right("estimate"), Right("upper"), Left("binds")}, cells)
}

func servingRow(r *infer.Row) []string {
	intensity, bytes := "", ""
	if r.Bytes > 0 {
		bytes = unit.FormatBytes(r.Bytes)
	}
	if v := r.Intensity(); v > 0 && r.Op.Kind != work.Collective {
		intensity = strconv.FormatFloat(v, 'f', 0, 64)
	}
	name := r.Op.Name
	if r.Times > 1 {
		name += fmt.Sprintf(" x %.0f", r.Times)
	}
	return []string{"  " + name + padding(r.Padded), flopsCell(r.FLOPs), bytes, intensity, sec(r.Floor), sec(r.Total), sec(r.Upper), r.Bound.String()}
}

// ServingOperationsDoc is `explain infer` in JSON.
type ServingOperationsDoc struct {
	Model       string             `json:"model"`
	Cluster     string             `json:"cluster"`
	Plan        map[string]any     `json:"plan"`
	Concurrency int                `json:"concurrency"`
	Reason      *string            `json:"reason"` // why there are no steps
	Steps       []ExplainedStepDoc `json:"steps"`
}

// ExplainedStepDoc is one step with its operations on one GPU.
type ExplainedStepDoc struct {
	Step       string                `json:"step"`
	Prompt     int64                 `json:"prompt_tokens"`
	Sequences  int                   `json:"sequences"`
	Drafts     int                   `json:"drafts"`
	Time       StepDoc               `json:"time"`
	Roofs      []RoofDoc             `json:"roofs"`
	Operations []ServingOperationDoc `json:"operations"`
}

// ServingOperationDoc is one operation, all times that it runs in the step.
type ServingOperationDoc struct {
	Name      string  `json:"operation"`
	Part      string  `json:"part"`
	Format    string  `json:"format,omitempty"`
	Times     float64 `json:"times"`
	FLOPs     float64 `json:"flops"`
	Bytes     int64   `json:"bytes"`
	Intensity float64 `json:"flops_per_byte"`
	Lower     float64 `json:"lower_seconds"`
	Estimate  float64 `json:"estimate_seconds"`
	Upper     float64 `json:"upper_seconds"`
	Bound     string  `json:"bound"`
	Padded    bool    `json:"padded"`
}

// NewServingOperationsDoc builds the document.
func NewServingOperationsDoc(a *api.InferAnswer, steps []api.Explained) ServingOperationsDoc {
	b := a.Best.Best
	d := ServingOperationsDoc{Model: a.Request.Model.Name, Cluster: a.Best.Variant.Cluster.Name, Plan: servingKeys(&b.Layout),
		Concurrency: b.Concurrency, Reason: orNull(Unmet(a)), Steps: []ExplainedStepDoc{}}
	for i := range steps {
		x := &steps[i]
		s := ExplainedStepDoc{Step: x.Name, Prompt: x.Batch.Prefill, Sequences: x.Batch.Decode, Drafts: x.Batch.Draft, Time: stepDoc(&x.Step),
			Roofs: roofDocs(x.Roofs), Operations: []ServingOperationDoc{}}
		for k := range x.Rows {
			r := &x.Rows[k]
			s.Operations = append(s.Operations, ServingOperationDoc{r.Op.Name, r.Part.String(), productFormat(&r.Op), r.Times, float64(r.FLOPs), int64(r.Bytes), r.Intensity(),
				float64(r.Floor), float64(r.Total), float64(r.Upper), r.Bound.String(), r.Padded})
		}
		d.Steps = append(d.Steps, s)
	}
	return d
}
