package report

import (
	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/train"
)

// OperationsDoc is `explain train` in JSON.
type OperationsDoc struct {
	Model      string         `json:"model"`
	Cluster    string         `json:"cluster"`
	Plan       map[string]any `json:"plan"`
	Operations []OperationDoc `json:"operations"`
}

// OperationDoc is one operation of one rank for one micro-batch.
type OperationDoc struct {
	Layer     string  `json:"layer"`
	Times     int     `json:"layers"`
	Name      string  `json:"operation"`
	Part      string  `json:"part"`
	Phase     string  `json:"phase"`
	FLOPs     float64 `json:"flops"`
	Bytes     int64   `json:"bytes"`
	Intensity float64 `json:"flops_per_byte"`
	Lower     float64 `json:"lower_seconds"`
	Estimate  float64 `json:"estimate_seconds"`
	Upper     float64 `json:"upper_seconds"`
	Bound     string  `json:"bound"`
	Algorithm string  `json:"algorithm,omitempty"`
}

// NewOperationsDoc builds the document.
func NewOperationsDoc(a *api.TrainAnswer, rows []train.Row) OperationsDoc {
	d := OperationsDoc{Model: a.Request.Model.Name, Cluster: a.Request.Cluster.Name, Plan: planKeys(&a.Best.Plan), Operations: []OperationDoc{}}
	for i := range rows {
		r := &rows[i]
		bytes := int64(r.Bytes)
		if r.Algorithm != "" {
			bytes = int64(r.Comm.Bytes)
		}
		d.Operations = append(d.Operations, OperationDoc{r.Layer, r.Times, r.Name, r.Part, r.Phase.String(), float64(r.FLOPs), bytes,
			r.Intensity(), float64(r.Lower), float64(r.Estimate), float64(r.Upper), r.Bound, r.Algorithm})
	}
	return d
}
