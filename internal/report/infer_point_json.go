package report

import (
	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/mem"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// PointDoc is one layout at one load.
type PointDoc struct {
	Plan        map[string]any   `json:"plan"`
	Cluster     string           `json:"cluster"`
	Weights     string           `json:"weights"`
	Experts     string           `json:"expert_weights"`
	KV          string           `json:"kv"`
	Spec        string           `json:"spec"`
	RTT         *float64         `json:"net_rtt_seconds"`
	Overlap     string           `json:"overlap"`
	Concurrency int              `json:"concurrency"`
	Refined     bool             `json:"concurrency_refined"` // lies between the loads that double
	GPUs        int              `json:"gpus"`
	TTFT        *float64         `json:"ttft_seconds"`
	Transfer    *float64         `json:"kv_transfer_seconds"` // of TTFT, between two roles
	TTFTSteady  *float64         `json:"ttft_steady_seconds"` // without the first round
	TTFTBurst   *float64         `json:"ttft_burst_seconds"`  // of the first round
	InStep      bool             `json:"users_in_step"`
	TPOT        *float64         `json:"tpot_seconds"`
	TTFTRange   []float64        `json:"ttft_range_seconds"` // 80 % of measured services; null where nothing says
	TPOTRange   []float64        `json:"tpot_range_seconds"`
	PerUser     *float64         `json:"tokens_per_second_per_user"`
	Output      *float64         `json:"output_tokens_per_second"`
	PerGPU      *float64         `json:"output_tokens_per_second_per_gpu"`
	Cost        *float64         `json:"cost_per_million_output_tokens_usd"`
	KVPerToken  float64          `json:"kv_bytes_per_token"`
	MemoryBytes int64            `json:"memory_bytes_per_gpu"`
	MemoryLimit int64            `json:"memory_limit_bytes"`
	Memory      map[string]int64 `json:"memory"`
	Fits        bool             `json:"fits"`
	MeetsSLO    bool             `json:"meets_slo"`
	Bound       string           `json:"bound"`
	QueueLimit  *string          `json:"queue_limit"` // what requests wait for; null where none does
	Tokens      int64            `json:"kv_capacity_tokens"`
	Most        int64            `json:"max_concurrency"`
	Chunk       int64            `json:"batch_tokens"`
	Slots       int              `json:"max_sequences"`
	Batch       int              `json:"decode_batch"`
	Decode      *StepDoc         `json:"decode_step,omitempty"`
	Fullest     *float64         `json:"expert_imbalance"` // fullest rank over the mean; null where experts are even
	Balanced    *float64         `json:"expert_balancedness"`
	WireShare   float64          `json:"wire_share"`
	Capacity    *CapacityDoc     `json:"capacity"`                    // of layouts with one role
	Tails       bool             `json:"percentiles_hold"`            // the means speak for single requests
	Doubt       string           `json:"percentiles_doubt,omitempty"` // why not, where there is room for all
	Warnings    []string         `json:"warnings"`
	Notes       note.List        `json:"notes,omitempty"` // the same with their kinds and figures
}

// StepDoc is a decode step: its bounds, its parts and each resource alone.
type StepDoc struct {
	Lower    float64            `json:"lower_seconds"`
	Estimate float64            `json:"estimate_seconds"`
	Upper    float64            `json:"upper_seconds"`
	Parts    map[string]float64 `json:"parts"`
	SOL      SOLDoc             `json:"sol"`
	Wire     float64            `json:"wire_seconds"`
}

func pointDoc(a *api.InferAnswer, v *deploy.Variant, p *deploy.Point) PointDoc {
	d := PointDoc{Plan: servingKeys(&p.Layout), Cluster: v.Cluster.Name, Weights: v.Weights.String(), Experts: v.Experts.String(), KV: v.KV.String(),
		Spec: v.Speculation.String(), Overlap: overlapWord(v), Concurrency: p.Concurrency, Refined: p.Refined, GPUs: p.Layout.GPUs(), KVPerToken: a.Request.Model.KVBytesPerToken(v.KV, v.MTP()),
		MemoryBytes: int64(p.Need), MemoryLimit: int64(p.Memory.Budget), Memory: map[string]int64{}, Fits: p.Fits, MeetsSLO: a.Request.SLO.Meets(p),
		Bound: p.Bound, Tokens: p.Tokens, Most: p.Most, Chunk: p.Chunk, Slots: p.Slots, Batch: p.Batch, WireShare: p.Wire, Warnings: p.Warnings.Texts(), Notes: p.Warnings}
	if v.RTT != nil {
		rtt := float64(*v.RTT)
		d.RTT = &rtt
	}
	for part := range mem.NumServingParts {
		d.Memory[part.String()] = int64(p.Memory.Parts[part])
	}
	if !p.Fits {
		d.Bound = "memory"
		return d
	}
	if p.Balance != nil {
		d.Fullest, d.Balanced = &p.Fullest, &p.Balance.Balancedness
	}
	if p.Layout.Split != nil {
		way := float64(p.Transfer)
		d.Transfer = &way
	}
	d.Tails, d.Doubt = p.Tails(), p.Steady.Doubt.String()
	d.TTFTRange, d.TPOTRange = spanDoc(p.TTFTRange()), spanDoc(p.TPOTRange())
	if p.Layout.Split == nil {
		d.Capacity = capacityDoc(&p.Full)
	}
	steady, burst := float64(p.Steady.Steady), float64(p.Steady.Burst)
	d.TTFTSteady, d.TTFTBurst = &steady, &burst
	if l := p.Steady.Limit; l != infer.NoLimit {
		word := l.String()
		d.QueueLimit = &word
	}
	d.InStep = p.Steady.InStep
	ttft, tpot, user, output, gpu := float64(p.TTFT), float64(p.TPOT), p.PerUser(), p.Output, p.PerGPU()
	d.TTFT, d.TPOT, d.PerUser, d.Output, d.PerGPU = &ttft, &tpot, &user, &output, &gpu
	if usd, ok := p.Cost(); ok {
		d.Cost = &usd
	}
	s := stepDoc(&p.Decode)
	d.Decode = &s
	return d
}

func stepDoc(s *infer.Step) StepDoc {
	d := StepDoc{Lower: float64(s.Floor), Estimate: float64(s.Total), Upper: float64(s.Upper), Parts: map[string]float64{}, Wire: float64(s.Wire),
		SOL: SOLDoc{float64(s.Compute), float64(s.HBM), float64(s.NVLink), float64(s.Network)}}
	for part := range infer.NumParts {
		d.Parts[part.String()] = float64(s.Parts[part])
	}
	return d
}

// servingKeys states every key of a layout as a number or a string; the roles of
// a disaggregated one as --plan reads them.
func servingKeys(l *deploy.Layout) map[string]any {
	if s := l.Split; s != nil {
		return map[string]any{"prefill": s.Prefill.String(), "prefill_workers": s.PrefillWorkers, "decode": s.Decode.String(), "decode_workers": s.DecodeWorkers}
	}
	return degreeKeys(&l.Serving)
}

func degreeKeys(s *plan.Serving) map[string]any {
	return map[string]any{"tp": s.TP, "pp": s.PP, "dp": s.DP, "ep": s.EP, "dcp": s.DCP, "replicas": s.Replicas, "redundant": s.Redundant}
}

// overlapWord is the overlap as --overlap reads it.
func overlapWord(v *deploy.Variant) string {
	if v.TwoBatch {
		return "two-batch"
	}
	return "none"
}

// spanDoc is a range in seconds, nil where there is none.
func spanDoc(r [2]unit.Seconds, ok bool) []float64 {
	if !ok {
		return nil
	}
	return []float64{float64(r[0]), float64(r[1])}
}
