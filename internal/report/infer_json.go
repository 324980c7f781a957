package report

import (
	"github.com/ridgeline/ridgeline/internal/api"

	"github.com/ridgeline/ridgeline/internal/note"
)

// InferDoc is the answer of `infer` in JSON.
type InferDoc struct {
	Model       string           `json:"model"`
	Clusters    []string         `json:"clusters"`
	ISL         int64            `json:"isl"`
	OSL         int64            `json:"osl"`
	Cached      int64            `json:"cached"`  // of isl: found in the prefix cache
	Longest     int64            `json:"longest"` // prompt and answer where lengths vary; 0 = all alike
	SLO         *SLODoc          `json:"slo"`
	Reason      *string          `json:"reason"` // why best is no answer
	Best        PointDoc         `json:"best"`
	Points      []PointDoc       `json:"points"`
	Pareto      []PointDoc       `json:"pareto"` // over all variants
	Fronts      [][]PointDoc     `json:"fronts"` // of each variant, in the order of the lists
	Flips       []FlipDoc        `json:"compute_bound_from"`
	Speculation []SpeculationDoc `json:"speculation"`
	Strategies  []StrategyDoc    `json:"strategies"`
	Latency     []LatencyDoc     `json:"latency"`
	Touched     *float64         `json:"experts_touched_per_layer"` // by a decode step of best; null without routed experts
	Experts     *int64           `json:"routed_experts_per_layer"`
	Saturated   *PointDoc        `json:"saturated"` // most output, past the queue; null where best is that or an SLO is given
	Streaming   float64          `json:"one_device_tokens_per_second"`
	Ceilings    []CeilingDoc     `json:"exchange_ceilings"`
	Calibration *CalibrationDoc  `json:"calibration,omitempty"`
	Counts      map[string]int   `json:"counts"`
	Warnings    []string         `json:"warnings"`
	Assumptions []string         `json:"assumptions"`
	Notes       note.List        `json:"notes,omitempty"` // both with their kinds and figures
	Seconds     float64          `json:"search_seconds"`
}

// SLODoc is what users are promised; 0 is not limited.
type SLODoc struct {
	TTFT float64 `json:"ttft_seconds"`
	TPOT float64 `json:"tpot_seconds"`
}

// FlipDoc is the batch from which a part of a decode step is compute-bound; null
// where no batch that was looked at is.
type FlipDoc struct {
	Part  string `json:"part"`
	Batch *int64 `json:"sequences"`
}

// SpeculationDoc is what drafting costs and gains on the best layout, by batch.
type SpeculationDoc struct {
	Spec   string  `json:"spec"`
	Tokens float64 `json:"tokens_per_step"`
	// The fewest requests in flight at which the service makes fewer tokens with it; null
	// where none is or the question does not ask about both.
	Loses *int           `json:"loses_from_in_flight"`
	Most  *int64         `json:"most_sequences"` // of a replica while the engine's version drafts; null = as without
	Curve []SpecPointDoc `json:"curve"`
}

// SpecPointDoc is one batch of it.
type SpecPointDoc struct {
	Batch   int     `json:"sequences"`
	Cost    float64 `json:"cost_ratio"`
	Speedup float64 `json:"speedup"`
}

// StrategyDoc is the best point with one thing changed; null where that does not fit.
type StrategyDoc struct {
	Change string   `json:"change"`
	TTFT   *float64 `json:"ttft_seconds"`
	TPOT   *float64 `json:"tpot_seconds"`
	PerGPU *float64 `json:"output_tokens_per_second_per_gpu"`
}

// LatencyDoc is the best layout at one round trip between nodes.
type LatencyDoc struct {
	RTT   float64 `json:"net_rtt_seconds"`
	TPOT  float64 `json:"tpot_seconds"`
	Share float64 `json:"wire_share"`
}

// CeilingDoc is what the exchange of routed experts alone allows: of the best plan
// first, then of the published example.
type CeilingDoc struct {
	Name    string  `json:"exchange"` // as in the text
	Tokens  int64   `json:"tokens_per_gpu"`
	Hidden  int64   `json:"hidden"`
	Copies  int64   `json:"copies"`
	Layers  int64   `json:"layers"`
	Bytes   float64 `json:"bytes"`
	Rate    float64 `json:"bytes_per_second"`
	Pair    float64 `json:"pair_seconds"`
	Step    float64 `json:"step_seconds"`
	PerUser float64 `json:"tokens_per_second_per_user"`
}

// CalibrationDoc is what measured points corrected.
type CalibrationDoc struct {
	Extra float64 `json:"extra_seconds_per_token"`
	Slope float64 `json:"wire_factor"`
}

// NewInferDoc builds the document.
func NewInferDoc(a *api.InferAnswer) InferDoc {
	r := a.Request
	d := InferDoc{Model: r.Model.Name, ISL: r.ISL, OSL: r.OSL, Cached: r.Cached, Longest: r.Longest, Reason: orNull(Unmet(a)), Best: pointDoc(a, a.Best.Variant, a.Best.Best), Points: []PointDoc{}, Pareto: []PointDoc{}, Fronts: [][]PointDoc{},
		Flips: []FlipDoc{}, Speculation: []SpeculationDoc{}, Strategies: []StrategyDoc{}, Latency: []LatencyDoc{}, Ceilings: []CeilingDoc{}, Streaming: a.Streaming, Counts: map[string]int{},
		Warnings: a.Warnings.Texts(), Assumptions: a.Best.Best.Assumptions.Texts(), Notes: a.Warnings.And(a.Best.Best.Assumptions...), Seconds: a.Elapsed.Seconds()}
	for _, c := range r.Clusters {
		d.Clusters = append(d.Clusters, c.Name)
	}
	if r.SLO.Any() {
		d.SLO = &SLODoc{float64(r.SLO.TTFT), float64(r.SLO.TPOT)}
	}
	for _, o := range a.Outcomes {
		for _, p := range o.Points {
			d.Points = append(d.Points, pointDoc(a, o.Variant, p))
		}
		front := []PointDoc{}
		for _, p := range o.Front {
			front = append(front, pointDoc(a, o.Variant, p))
		}
		d.Fronts = append(d.Fronts, front)
		d.Counts["priced"] += o.Count.Priced
		d.Counts["too large"] += o.Count.TooLarge
		d.Counts["illegal"] += o.Count.Illegal
		d.Counts["missed"] += o.Count.Missed
	}
	for _, p := range a.Front {
		d.Pareto = append(d.Pareto, pointDoc(a, p.Variant, p.Point))
	}
	if c := a.Best.Calibration; c != nil {
		d.Calibration = &CalibrationDoc{float64(c.Extra), c.Slope}
	}
	if a.Touched > 0 {
		d.Touched, d.Experts = &a.Touched, &a.Experts
	}
	if s := a.Saturated; s != nil {
		x := pointDoc(a, s.Variant, s.Point)
		d.Saturated = &x
	}
	d.explain(a)
	return d
}

// explain adds what is known about the best point.
func (d *InferDoc) explain(a *api.InferAnswer) {
	for _, f := range a.Flips {
		x := FlipDoc{Part: f.Part.String()}
		if f.Batch > 0 {
			x.Batch = &f.Batch
		}
		d.Flips = append(d.Flips, x)
	}
	for _, s := range a.Drafting {
		x := SpeculationDoc{Spec: s.Speculation.String(), Tokens: s.Speculation.Tokens()}
		if s.With != nil {
			x.Loses = &s.With.Concurrency
		}
		if s.Limits != nil {
			x.Most = &s.Limits.Sequences
		}
		for _, p := range s.Curve {
			x.Curve = append(x.Curve, SpecPointDoc{p.Batch, p.Cost, p.Speedup})
		}
		d.Speculation = append(d.Speculation, x)
	}
	for _, s := range a.Strategies {
		x := StrategyDoc{Change: s.Name}
		if p := s.Point; p != nil {
			ttft, tpot, gpu := float64(p.TTFT), float64(p.TPOT), p.PerGPU()
			x.TTFT, x.TPOT, x.PerGPU = &ttft, &tpot, &gpu
		}
		d.Strategies = append(d.Strategies, x)
	}
	for _, c := range a.Ceilings {
		d.Ceilings = append(d.Ceilings, CeilingDoc{exchangeName(&c), c.Tokens, c.Hidden, c.Copies, c.Layers, c.Bytes, float64(c.Rate), float64(c.Pair()), float64(c.Step()), c.PerUser()})
	}
	for _, l := range a.Latency {
		d.Latency = append(d.Latency, LatencyDoc{float64(l.RTT), float64(l.Point.TPOT), l.Point.Wire})
	}
}
