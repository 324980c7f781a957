package report

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/advise"
	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/train"
)

// SweepDoc is a few plans while one figure is turned; SI units.
type SweepDoc struct {
	Figure string           `json:"figure"`
	Unit   string           `json:"unit"`
	Now    float64          `json:"now"`
	Plans  []map[string]any `json:"plans"`
	Points []SweepPointDoc  `json:"points"`
	Flips  []SweepFlipDoc   `json:"flips"`
}

// SweepPointDoc is the plans at one value; null for a plan that is not legal there.
type SweepPointDoc struct {
	Value   float64         `json:"value"`
	Best    *int            `json:"best"` // index of the fastest that fits
	Results []*SweptPlanDoc `json:"results"`
}

// SweptPlanDoc is one plan at one value.
type SweptPlanDoc struct {
	Step         float64     `json:"step_seconds"`
	TokensPerGPU float64     `json:"tokens_per_second_per_gpu"`
	Fits         bool        `json:"fits"`
	Bound        train.Bound `json:"bound"`
}

// SweepFlipDoc is where the verdict flips, between two values of the sweep: at
// crossing, where it is known, two plans are equally fast.
type SweepFlipDoc struct {
	Low      float64     `json:"low"`
	High     float64     `json:"high"`
	Crossing *float64    `json:"crossing"`
	Was      *int        `json:"best_below"`
	Is       *int        `json:"best_above"`
	From     train.Bound `json:"bound_below,omitempty"`
	To       train.Bound `json:"bound_above,omitempty"`
}

// NewSweepDoc builds the document.
func NewSweepDoc(s *advise.Sweep) *SweepDoc {
	d := &SweepDoc{Figure: s.Knob.Word(), Unit: s.Unit, Now: s.Now, Plans: []map[string]any{}, Points: []SweepPointDoc{}, Flips: []SweepFlipDoc{}}
	for i := range s.Plans {
		d.Plans = append(d.Plans, planKeys(&s.Plans[i]))
	}
	for i := range s.Points {
		x := &s.Points[i]
		p := SweepPointDoc{Value: x.Value, Best: indexOrNull(x.Best), Results: make([]*SweptPlanDoc, len(x.Results))}
		for k, r := range x.Results {
			if r != nil {
				p.Results[k] = &SweptPlanDoc{float64(r.Step), r.TokensPerSecondPerGPU(), r.Fits, r.Bound}
			}
		}
		d.Points = append(d.Points, p)
	}
	for i := range s.Flips {
		f := &s.Flips[i]
		x := SweepFlipDoc{Low: f.Low, High: f.High, Was: indexOrNull(f.Was), Is: indexOrNull(f.Is), From: f.From, To: f.To}
		if f.Crossing > 0 {
			x.Crossing = &f.Crossing
		}
		d.Flips = append(d.Flips, x)
	}
	return d
}

func indexOrNull(i int) *int {
	if i < 0 {
		return nil
	}
	return &i
}

// trainSweep shows which of the listed plans wins where.
func trainSweep(p *Page, a *api.TrainAnswer) {
	s := a.Sweep
	if s == nil {
		return
	}
	p.section("The listed plans while the %s is turned from %s", s.Knob, inUnit(s.Now, s.Unit))
	var rows [][]string
	for i := 0; i < len(s.Points); i += 4 { // every doubling
		x := &s.Points[i]
		row := []string{inUnit(x.Value, s.Unit), "", "", "none of them fits"}
		if x.Best >= 0 {
			r := x.Results[x.Best]
			row = []string{inUnit(x.Value, s.Unit), sec(r.Step), boundName(r.Bound), fmt.Sprintf("%d: %s", x.Best+1, r.Plan.String())}
		}
		rows = append(rows, row)
	}
	p.planTable([]Column{Right(s.Knob.String()), Right("step"), Left("bound"), Left("fastest")}, rows)
	for i := range s.Flips {
		f := &s.Flips[i]
		if !f.SameWinner && f.Was >= 0 && f.Is >= 0 {
			p.Text(0, "Plan %d gives way to plan %d at about %s.", f.Was+1, f.Is+1, inUnit(max(f.Crossing, f.Low), s.Unit))
		}
	}
}
