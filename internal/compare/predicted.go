package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/ridgeline/ridgeline/internal/bench"
)

// Point is one load of a prediction; nil where it states nothing.
type Point struct {
	Concurrency int
	Rate        float64 // requests/s of an open load, 0 in a closed loop
	TTFT, TPOT  *float64
	Output      *float64 // tokens/s
	ISL, OSL    float64  // tokens, 0 = not stated
}

// Gap is a prediction against a measurement, load by load.
type Gap struct {
	Pairs    []GapPair `json:"pairs"`
	Unpaired []string  `json:"unpaired"`
}

// GapPair is one load.
type GapPair struct {
	Load string   `json:"load"`
	Rows []GapRow `json:"rows"`
}

// GapRow is one mean, predicted and measured.
type GapRow struct {
	Metric    string   `json:"metric"`
	Unit      string   `json:"unit"`
	Predicted float64  `json:"predicted"`
	Measured  float64  `json:"measured"`
	Error     float64  `json:"error"`         // predicted/measured - 1
	Low       *float64 `json:"measured_low"`  // 95 % of the measured mean, null where not known
	High      *float64 `json:"measured_high"` //
	// Parts are what the measurement knows of measured - predicted, in the row's unit;
	// the last is what nothing explains.
	Parts []Part `json:"parts"`
}

// Part is one piece of a gap.
type Part struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Prediction holds a measurement against what was predicted for the same loads.
func Prediction(points []Point, m *bench.Report) *Gap {
	g := &Gap{Pairs: []GapPair{}, Unpaired: []string{}}
	for i := range m.Stages {
		s := &m.Stages[i]
		var p *Point
		for k := range points {
			if s.Mode == bench.Closed && points[k].Rate == 0 && points[k].Concurrency == s.Concurrency ||
				s.Mode == bench.Open && points[k].Rate > 0 && math.Abs(points[k].Rate/s.Rate-1) < 1e-6 {
				p = &points[k]
				break
			}
		}
		if p == nil {
			g.Unpaired = append(g.Unpaired, "not predicted: "+load(s))
			continue
		}
		g.Pairs = append(g.Pairs, GapPair{Load: load(s), Rows: p.rows(s)})
	}
	return g
}

// rows are the means that both sides have.
func (p *Point) rows(s *bench.Stage) (rows []GapRow) {
	add := func(metric, unit string, predicted *float64, scale, measured float64, d *bench.Dist) *GapRow {
		if predicted == nil || !(measured > 0) {
			return nil
		}
		r := GapRow{Metric: metric, Unit: unit, Predicted: *predicted * scale, Measured: measured, Parts: []Part{}}
		r.Error = r.Predicted/measured - 1
		if d != nil {
			if w, ok := welch(*d, bench.Dist{N: math.MaxInt32, Mean: d.Mean}); ok {
				half := (w.high - w.low) / 2 * d.Mean
				r.Low, r.High = known(d.Mean-half, true), known(d.Mean+half, true)
			}
		}
		rows = append(rows, r)
		return &rows[len(rows)-1]
	}
	ttft, tpot := dist(s, "ttft"), dist(s, "tpot")
	if r := add("ttft", "ms", p.TTFT, 1e3, ttft.Mean, &ttft); r != nil {
		r.explain(s)
	}
	add("tpot", "ms", p.TPOT, 1e3, tpot.Mean, &tpot)
	add("output", "tokens/s", p.Output, 1, float64(s.OutputRate), nil)
	return rows
}

// explain splits the gap of TTFT by what the service's own metrics say of the mean:
// measured TTFT is what lies between client and engine, and the engine's own time. A
// prediction states its TTFT whole, queue and prompt together: they are held against
// the engine's queue and prompt together.
func (r *GapRow) explain(s *bench.Stage) {
	if s.Server == nil || s.Server.TTFT == nil || !(*s.Server.TTFT > 0) {
		return
	}
	engine := *s.Server.TTFT
	r.Parts = append(r.Parts, Part{"between client and engine: network, HTTP", r.Measured - engine},
		Part{"engine (queue and prompt), beyond what was predicted", engine - r.Predicted})
}

// ReadPrediction reads the documents of `infer --json` and `simulate --json`: of the
// first the points of its best plan.
func ReadPrediction(document []byte) ([]Point, error) {
	type point struct {
		Plan        json.RawMessage `json:"plan"`
		Cluster     string          `json:"cluster"`
		Concurrency int             `json:"concurrency"`
		TTFT        *float64        `json:"ttft_seconds"`
		TPOT        *float64        `json:"tpot_seconds"`
		Output      *float64        `json:"output_tokens_per_second"`
	}
	type mean struct {
		Mean *float64 `json:"mean"`
	}
	type summary struct {
		TTFT   mean     `json:"ttft_seconds"`
		TPOT   mean     `json:"tpot_seconds"`
		Output *float64 `json:"output_tokens_per_second"`
	}
	var d struct {
		ISL    float64  `json:"isl"`
		OSL    float64  `json:"osl"`
		Best   *point   `json:"best"`
		Points []point  `json:"points"`
		Steady *summary `json:"steady"`
		Whole  *summary `json:"whole"`
		Load   struct {
			Concurrency int      `json:"concurrency"`
			Rate        *float64 `json:"requests_per_second"`
		} `json:"load"`
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, fmt.Errorf("no prediction: %w", err)
	}
	if d.Whole != nil {
		s := d.Whole
		if d.Steady != nil {
			s = d.Steady
		}
		p := Point{Concurrency: d.Load.Concurrency, TTFT: s.TTFT.Mean, TPOT: s.TPOT.Mean, Output: s.Output}
		if p.Concurrency == 0 && d.Load.Rate != nil {
			p.Rate = *d.Load.Rate
		}
		return []Point{p}, nil
	}
	if d.Best == nil {
		return nil, errors.New("no prediction: give the document of `infer --json` or `simulate --json`")
	}
	var list []Point
	for _, p := range d.Points {
		if string(p.Plan) == string(d.Best.Plan) && p.Cluster == d.Best.Cluster {
			list = append(list, Point{Concurrency: p.Concurrency, TTFT: p.TTFT, TPOT: p.TPOT, Output: p.Output, ISL: d.ISL, OSL: d.OSL})
		}
	}
	if len(list) == 0 {
		list = append(list, Point{Concurrency: d.Best.Concurrency, TTFT: d.Best.TTFT, TPOT: d.Best.TPOT, Output: d.Best.Output, ISL: d.ISL, OSL: d.OSL})
	}
	return list, nil
}
