package report

import "github.com/ridgeline/ridgeline/internal/api"

// RatioDoc is a disaggregated plan at several numbers of workers.
type RatioDoc struct {
	Model   string         `json:"model"`
	Cluster string         `json:"cluster"`
	Reason  *string        `json:"reason"` // why no cell is an answer
	Prefill []int          `json:"prefill_workers"`
	Decode  []int          `json:"decode_workers"`
	Cells   []RatioCellDoc `json:"cells"`
}

// RatioCellDoc is one pair; pairs that the cluster does not hold are left out.
type RatioCellDoc struct {
	Prefill int      `json:"prefill_workers"`
	Decode  int      `json:"decode_workers"`
	Met     bool     `json:"meets_slo"`
	Point   PointDoc `json:"point"`
}

// NewRatioDoc builds the document.
func NewRatioDoc(a *api.RatioAnswer) RatioDoc {
	d := RatioDoc{Model: a.Request.Model.Name, Cluster: a.Variant.Cluster.Name, Reason: orNull(UnmetRatio(a)), Prefill: a.Prefill, Decode: a.Decode, Cells: []RatioCellDoc{}}
	of := &api.InferAnswer{Request: a.Request}
	for i := range a.Cells {
		c := &a.Cells[i]
		d.Cells = append(d.Cells, RatioCellDoc{c.Prefill, c.Decode, c.Met, pointDoc(of, a.Variant, c.Point)})
	}
	return d
}
