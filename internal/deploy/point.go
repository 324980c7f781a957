package deploy

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/balance"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Point is one layout under one number of requests in flight, in the steady
// state. A point that does not fit has its memory and no times.
type Point struct {
	Layout      Layout
	Concurrency int            // requests in flight at the service
	TTFT, TPOT  unit.Seconds   // means
	Output      float64        // output tokens/s of the service
	Reading     float64        // share of the time that prefill workers read; layouts with two roles
	Fits        bool           // weights, and the cache of at least one request
	Memory      infer.Memory   // of the fullest GPU
	Need        unit.Bytes     // of that GPU: everything, and the cache of one request
	Tokens      int64          // that the caches of the service hold
	Most        int64          // requests that they hold at once
	Chunk       int64          // most tokens of a step; 0 = the engine's default
	Slots       int            // most sequences generating on one instance; 0 = as many as come
	Batch       int            // sequences that generate together on one instance
	Decode      infer.Step     // of such a step
	Steady      infer.Point    // of one instance; of two roles only InStep, Burst, Steady, Limit and Running are stated
	floor       unit.Seconds   // of TPOT: a token is not made faster
	Full        infer.Capacity // of the service, where queueing takes over; layouts with one role
	Bound       string         // what binds, see Bounds
	Wire        float64        // share of TPOT that waits on the latency between nodes
	Refined     bool           // its load lies between those of the question, see Question.Between
	Queued      bool           // requests wait for room in the caches, or the prompts outrun the engine
	Price       float64        // USD per GPU-hour; 0 = not known, unless Free
	Free        bool
	Transfer    unit.Seconds // of TTFT: the cache on its way; layouts with two roles
	// Balance is how the routed experts are loaded, and Fullest the busiest expert rank of
	// the decode step over the mean; nil where they are even or on no ranks of their own.
	Balance     *balance.Imbalance
	Fullest     float64
	Ranges      *infer.Ranges // of the means; nil where measured points corrected them
	Warnings    note.List
	Assumptions note.List
}

// OwnLimit is the engine's own limit of sequences of a replica where requests wait because
// it is reached and nobody set it; 0 elsewhere.
func (p *Point) OwnLimit() int64 {
	if !p.Queued || p.Steady.Limit != infer.SlotsFull || p.Slots > 0 {
		return 0
	}
	x := &p.Layout.Serving
	if s := p.Layout.Split; s != nil {
		x = &s.Decode
	}
	return p.Steady.Running / int64(x.DP)
}

// Tails tells whether the load is far enough from the place where queueing takes over, and
// requests fall together so rarely, that its means speak for single requests, too.
func (p *Point) Tails() bool { return p.Fits && p.Layout.Split == nil && p.Steady.Agrees() }

// Between tells whether the decode step waits for the network between nodes, of which
// the runs behind Ranges know nothing: each stayed inside one node or NVLink domain.
func (p *Point) Between() bool { return p.Decode.Network > 0 || p.Decode.Wire > 0 }

// TPOTRange is where 80 % of measured times per token lie by the prediction; ok is
// false where nothing says, as of plans between nodes.
func (p *Point) TPOTRange() (r [2]unit.Seconds, ok bool) {
	if !p.Fits || p.Ranges == nil || p.Between() || p.TPOT <= 0 {
		return r, false
	}
	return p.Ranges.TPOT.Of(p.TPOT, p.floor), true
}

// TTFTRange is the same of the first token; near saturation nothing says.
func (p *Point) TTFTRange() (r [2]unit.Seconds, ok bool) {
	if !p.Fits || p.Ranges == nil || p.Between() || p.Layout.Split == nil && !p.Steady.Valid() {
		return r, false
	}
	return p.Ranges.TTFT.Of(p.TTFT, 0), true
}

// PerUser is the tokens/s that one user sees after the first token.
func (p *Point) PerUser() float64 {
	if !(p.TPOT > 0) {
		return 0
	}
	return 1 / float64(p.TPOT)
}

// PerGPU is the output tokens/s of one GPU.
func (p *Point) PerGPU() float64 { return p.Output / float64(p.Layout.GPUs()) }

// Lacks is what the fullest GPU has too little of, 0 where the point fits.
func (p *Point) Lacks() unit.Bytes { return max(0, p.Need-p.Memory.Budget) }

// Cost is the USD per million output tokens; ok is false without a price.
func (p *Point) Cost() (usd float64, ok bool) {
	return CostPerMillion(p.Price, p.Free, p.Layout.GPUs(), p.Output)
}

// CostPerMillion is the USD that a million output tokens cost on so many GPUs at price
// USD per GPU-hour and output tokens/s of them all; ok is false without a price, unless
// the GPUs are free of charge, and without output.
func CostPerMillion(price float64, free bool, gpus int, output float64) (usd float64, ok bool) {
	if price <= 0 && !free || output <= 0 {
		return 0, false
	}
	return price * float64(gpus) / 3600 / output * 1e6, true
}

// String is the layout and the limits as the flags of the command line read them.
func (p *Point) String() string {
	s := p.Layout.String()
	if p.Chunk > 0 {
		s += fmt.Sprintf(" --batch-tokens %d", p.Chunk)
	}
	if p.Slots > 0 {
		s += fmt.Sprintf(" --max-sequences %d", p.Slots)
	}
	return s
}
