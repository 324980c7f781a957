package report

import (
	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/work"
)

// OperationsDoc is `explain train` in JSON.
type OperationsDoc struct {
	Model      string         `json:"model"`
	Cluster    string         `json:"cluster"`
	Plan       map[string]any `json:"plan"`
	Roofs      []RoofDoc      `json:"roofs"`
	Operations []OperationDoc `json:"operations"`
}

// RoofDoc is a ceiling of the roofline in SI per GPU: FLOP/s of products, bytes/s
// of memory and, per direction, of links.
type RoofDoc struct {
	Resource string   `json:"resource"`
	Format   string   `json:"format,omitempty"`
	Achieved float64  `json:"achieved"`
	Peak     *float64 `json:"peak"`
	Unit     string   `json:"unit"`
}

// OperationDoc is one operation of one rank for one micro-batch.
type OperationDoc struct {
	Layer     string  `json:"layer"`
	Times     int     `json:"layers"`
	Name      string  `json:"operation"`
	Part      string  `json:"part"`
	Phase     string  `json:"phase"`
	Format    string  `json:"format,omitempty"` // of products
	FLOPs     float64 `json:"flops"`
	Bytes     int64   `json:"bytes"`
	Intensity float64 `json:"flops_per_byte"`
	Lower     float64 `json:"lower_seconds"`
	Estimate  float64 `json:"estimate_seconds"`
	Upper     float64 `json:"upper_seconds"`
	Bound     string  `json:"bound"`
	Padded    bool    `json:"padded"`
	Algorithm string  `json:"algorithm,omitempty"`
}

// NewOperationsDoc builds the document.
func NewOperationsDoc(a *api.TrainAnswer, rows []train.Row, roofs []api.Roof) OperationsDoc {
	d := OperationsDoc{Model: a.Request.Model.Name, Cluster: a.Request.Cluster.Name, Plan: planKeys(&a.Best.Plan), Roofs: roofDocs(roofs), Operations: []OperationDoc{}}
	for i := range rows {
		r := &rows[i]
		bytes := int64(r.Bytes)
		if r.Algorithm != "" {
			bytes = int64(r.Comm.Bytes)
		}
		d.Operations = append(d.Operations, OperationDoc{r.Layer, r.Times, r.Name, r.Part, r.Phase.String(), productFormat(&r.Op), float64(r.FLOPs), bytes,
			r.Intensity(), float64(r.Lower), float64(r.Estimate), float64(r.Upper), r.Bound, r.Padded, r.Algorithm})
	}
	return d
}

func roofDocs(roofs []api.Roof) []RoofDoc {
	docs := []RoofDoc{}
	for i := range roofs {
		r := &roofs[i]
		d := RoofDoc{Resource: r.Resource, Achieved: r.Achieved, Unit: "B/s"}
		if r.Resource == cost.Compute.String() {
			d.Format, d.Unit = r.Format.String(), "FLOP/s"
		}
		if r.Peak > 0 {
			d.Peak = &r.Peak
		}
		docs = append(docs, d)
	}
	return docs
}

// productFormat is the format of what multiplies, "" for anything else.
func productFormat(op *work.Op) string {
	if op.Kind == work.Collective || op.Kind == work.Elementwise {
		return ""
	}
	return op.Format.String()
}
