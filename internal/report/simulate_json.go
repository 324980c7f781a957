package report

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/serve"
)

// SimulateDoc is a simulated run in JSON.
type SimulateDoc struct {
	Model     string           `json:"model"`
	Cluster   string           `json:"cluster"`
	Plan      map[string]any   `json:"plan"`
	Fits      bool             `json:"fits"`
	Reason    *string          `json:"reason"` // why nothing was answered
	GPUs      int              `json:"gpus"`
	Instances int              `json:"instances"`
	Tokens    int64            `json:"kv_capacity_tokens"`
	Load      LoadDoc          `json:"load"`
	Requests  RequestCountsDoc `json:"requests"`
	Partial   bool             `json:"partial"`
	End       float64          `json:"simulated_seconds"`
	Steady    *SummaryDoc      `json:"steady"`
	Whole     SummaryDoc       `json:"whole"`
	// Why waiting times have no tails, null where they have.
	Held     *string      `json:"tails_held"`
	Overload *string      `json:"overload"`
	Capacity *CapacityDoc `json:"capacity"`
	SLO      *SLODoc      `json:"slo"`
	SLOAt    string       `json:"slo_at"`
	Missed   *string      `json:"slo_missed"`
	Cost     *float64     `json:"cost_per_million_output_tokens_usd"` // null without a price
	// What measured points corrected; absent without any.
	Calibration *CalibrationDoc `json:"calibration,omitempty"`
	Timeline    []MomentDoc     `json:"timeline"`
	Warnings    []string        `json:"warnings"`
	Notes       note.List       `json:"notes,omitempty"` // the same with their kinds and figures
}

// LoadDoc is what was asked of the service. The rate is null in a closed loop.
type LoadDoc struct {
	Name        string   `json:"name"`
	Requests    int      `json:"requests"`
	Concurrency int      `json:"concurrency"`
	Ramp        float64  `json:"ramp_seconds"`
	Rate        *float64 `json:"requests_per_second"`
	Variation   float64  `json:"gap_variation"`
}

// RequestCountsDoc is what became of the requests.
type RequestCountsDoc struct {
	Arrived    int `json:"arrived"`
	Done       int `json:"done"`
	Dropped    int `json:"dropped"`
	Unfinished int `json:"unfinished"`
}

// SummaryDoc is a stretch of the run.
type SummaryDoc struct {
	From        float64  `json:"from_seconds"`
	To          float64  `json:"to_seconds"`
	Requests    int      `json:"requests"`
	Done        int      `json:"done"`
	TTFT        *DistDoc `json:"ttft_seconds"`
	TPOT        *DistDoc `json:"tpot_seconds"`
	ITL         *DistDoc `json:"itl_seconds"`
	E2E         *DistDoc `json:"e2e_seconds"`
	Queueing    *DistDoc `json:"queue_seconds"`
	Batch       *DistDoc `json:"batch_sequences"`
	KV          *DistDoc `json:"kv_used"`
	RequestRate float64  `json:"requests_per_second"`
	OutputRate  float64  `json:"output_tokens_per_second"`
	PromptRate  float64  `json:"prompt_tokens_per_second"`
	Busy        float64  `json:"busy"`
	Reading     float64  `json:"reading"`
	Cached      float64  `json:"cached_share"`
	Preempted   int64    `json:"preempted"`
	MeanStep    float64  `json:"mean_step_seconds"`
	Goodput     float64  `json:"goodput_requests_per_second"`
	GoodShare   float64  `json:"good_share"`
}

// DistDoc is a distribution; percentiles above the median are null where they are
// not stated.
type DistDoc struct {
	N    int64    `json:"n"`
	Mean float64  `json:"mean"`
	P50  float64  `json:"p50"`
	P90  *float64 `json:"p90"`
	P95  *float64 `json:"p95"`
	P99  *float64 `json:"p99"`
	Min  float64  `json:"min"`
	Max  *float64 `json:"max"`
}

// CapacityDoc is where queueing takes over.
type CapacityDoc struct {
	InFlight    float64  `json:"in_flight"`
	Concurrency float64  `json:"concurrency"`
	Requests    float64  `json:"requests_per_second"`
	Output      float64  `json:"output_tokens_per_second"`
	Share       *float64 `json:"offered_share,omitempty"`
}

func capacityDoc(c *infer.Capacity) *CapacityDoc {
	return &CapacityDoc{InFlight: math.Round(c.Clients), Concurrency: c.Concurrency, Requests: c.Requests, Output: c.Output}
}

// MomentDoc is a stretch of the time line, from its start to the next one's.
type MomentDoc struct {
	From    float64 `json:"from_seconds"`
	Running float64 `json:"running"`
	Waiting float64 `json:"waiting"`
	KV      float64 `json:"kv_used"`
	Output  float64 `json:"output_tokens_per_second"`
	Busy    float64 `json:"busy"`
}

// NewSimulateDoc describes the answer of `simulate`.
func NewSimulateDoc(a *api.SimulateAnswer) *SimulateDoc {
	r, l := a.Result, a.Request.Load
	held := a.TailsHeld()
	d := &SimulateDoc{Model: a.Request.Service.Model.Name, Cluster: a.Variant.Cluster.Name, Plan: servingKeys(&a.Layout), Fits: true, GPUs: a.Layout.GPUs(),
		Instances: r.Instances, Tokens: a.KVTokens, Load: LoadDoc{Name: l.Name, Requests: len(l.Requests), Concurrency: l.Concurrency, Ramp: l.Ramp.Seconds(), Variation: l.Variation},
		Requests: RequestCountsDoc{r.Arrived, r.Done, r.Dropped, r.Unfinished}, Partial: r.Partial, End: r.End.Seconds(),
		Whole: summaryDoc(&r.Whole, held != ""), Held: orNull(held), Overload: orNull(r.Overload), SLOAt: a.Request.At.String(), Missed: orNull(a.Missed),
		Timeline: []MomentDoc{}, Warnings: a.Warnings.Texts(), Notes: a.Warnings}
	if l.Concurrency == 0 && l.Span() > 0 {
		rate := a.Offered()
		d.Load.Rate = &rate
	}
	if r.Done == 0 && r.Dropped > 0 {
		d.Reason = orNull(a.FirstDropped())
	}
	if r.Steady != nil {
		s := summaryDoc(r.Steady, held != "")
		d.Steady = &s
	}
	if c := a.Capacity; c != nil {
		d.Capacity = capacityDoc(c)
		if share := a.Share(); share > 0 {
			d.Capacity.Share = &share
		}
	}
	if s := a.Request.SLO; s.Asked() {
		d.SLO = &SLODoc{TTFT: s.TTFT.Seconds(), TPOT: s.TPOT.Seconds()}
	}
	if usd, ok := a.Cost(r.Mean().OutputRate); ok {
		d.Cost = &usd
	}
	if c := a.Calibration; c != nil {
		d.Calibration = &CalibrationDoc{float64(c.Extra), c.Slope}
	}
	for _, m := range r.Timeline {
		d.Timeline = append(d.Timeline, MomentDoc{m.From.Seconds(), m.Running, m.Waiting, m.KV, m.Output, m.Busy})
	}
	return d
}

func summaryDoc(m *serve.Summary, held bool) SummaryDoc {
	return SummaryDoc{From: m.From.Seconds(), To: m.To.Seconds(), Requests: m.Requests, Done: m.Done,
		TTFT: distDoc(&m.TTFT, held), TPOT: distDoc(&m.TPOT, false), ITL: distDoc(&m.ITL, false), E2E: distDoc(&m.E2E, held), Queueing: distDoc(&m.Queueing, held),
		Batch: distDoc(&m.Batch, false), KV: distDoc(&m.KV, false), RequestRate: m.RequestRate, OutputRate: m.OutputRate, PromptRate: m.PromptRate,
		Busy: m.Busy, Reading: m.Reading, Cached: m.CachedShare, Preempted: m.Preempted, MeanStep: m.MeanStep, Goodput: m.Goodput, GoodShare: m.GoodShare}
}

// distDoc is null for a distribution of nothing.
func distDoc(d *serve.Dist, held bool) *DistDoc {
	if d.N == 0 {
		return nil
	}
	x := &DistDoc{N: d.N, Mean: d.Mean, P50: d.P50, Min: d.Min}
	if !held {
		x.P90, x.P95, x.P99, x.Max = &d.P90, &d.P95, &d.P99, &d.Max
	}
	return x
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
