package report

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// UnfitDoc is the answer about a deployment that has no room and so no times.
type UnfitDoc struct {
	Model   string         `json:"model"`
	Cluster string         `json:"cluster"`
	Plan    map[string]any `json:"plan"`
	Fits    bool           `json:"fits"` // false
	Reason  string         `json:"reason"`
	Need    int64          `json:"need_bytes_per_gpu"`
	Have    int64          `json:"have_bytes_per_gpu"`
}

// NewUnfitDoc describes a deployment that err says has no room.
func NewUnfitDoc(r *api.InferRequest, err *infer.MemoryError) UnfitDoc {
	return UnfitDoc{r.Model.Name, r.Clusters[0].Name, servingKeys(layoutOf(r)), false, err.Error(), int64(err.Need), int64(err.Have)}
}

// layoutOf is the layout of a request whose plan names all of it.
func layoutOf(r *api.InferRequest) *deploy.Layout {
	if split := r.Plan.Disaggregated(); split != nil {
		return &deploy.Layout{Split: split}
	}
	return &deploy.Layout{Serving: r.Plan.Whole.Serving}
}

// Unfit prints it.
func Unfit(p *Page, r *api.InferRequest, d *UnfitDoc) {
	p.Heading("%s on %s does not fit", d.Model, d.Cluster)
	p.planLine(2, layoutOf(r).String())
	p.Facts([2]string{"needs", unit.FormatGB(unit.Bytes(d.Need)) + " per GPU"}, [2]string{"has", unit.FormatGB(unit.Bytes(d.Have))}, [2]string{"reason", d.Reason})
}

// Unmet says in one line why an answer is none: nothing fits, or nothing meets the
// objective; "" where it is one.
func Unmet(a *api.InferAnswer) string {
	switch b := a.Best.Best; {
	case !b.Fits:
		return "nothing fits: the nearest needs " + a.NearestNeeds()
	case !a.Met():
		return fmt.Sprintf("nothing meets %s: the nearest has ttft=%s,tpot=%s (%s)", a.Request.SLO, compact(b.TTFT), compact(b.TPOT), b.Layout.String())
	}
	return ""
}

func compact(t unit.Seconds) string { return strings.ReplaceAll(unit.FormatSeconds(t), " ", "") }
