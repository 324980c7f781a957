package deploy

import (
	"github.com/ridgeline/ridgeline/internal/balance"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Question is the service that is asked for, the same for every variant.
type Question struct {
	Model       *model.Model
	ISL, OSL    int64   // tokens per request in and out, means
	Cached      int64   // of ISL: found in the prefix cache
	Varied      bool    // lengths differ from request to request; else all are alike
	Spread      float64 // of the prompts' lengths: their coefficient of variation
	Concurrency []int   // requests in flight at the service, ascending
	Between     bool    // under an SLO loads between them are looked at, too
	SLO         SLO
	Plan        *plan.ServingText // keys that the user gave
	Engine      string            // whose overheads; "" = the default profile
	Chunk       int64             // most tokens of a step; 0 = the engine's
	Slots       int               // most sequences generating on one instance; 0 = as many as the objective allows
	MemoryLimit float64           // usable share of device memory; 0 = the default
	Eager       bool              // no CUDA graphs: kernels start at the host's pace
	Measured    []infer.Measured  // at the first concurrency: what the answer is corrected by
}

// Variant is the machine and how the engine is run on it, whatever the layout:
// what a question lists to compare.
type Variant struct {
	Cluster     *hw.Cluster
	Weights     unit.Format // linears outside the routed experts
	Experts     unit.Format // routed experts
	KV          unit.Format
	Speculation *infer.Speculation // nil = none
	Draft       *model.Model       // of Speculation by a draft model
	RTT         *unit.Seconds      // between nodes; nil = the fabric's own
	TwoBatch    bool               // steps in two micro-batches, one computing while the other's tokens travel
	Skew        float64            // power-law exponent of the experts' popularity, 0 = even
	Loads       *balance.Given     // of each expert, in place of Skew; nil = by Skew
}

// speculates tells whether the variant drafts tokens.
func (v *Variant) speculates() bool { return v.Speculation != nil && v.Speculation.Drafts > 0 }

// MTP is how many of the model's MTP modules the variant loads beside it.
func (v *Variant) MTP() int {
	if v.speculates() && v.Speculation.Drafter == infer.MTP {
		return 1
	}
	return 0
}

// uneven tells whether the variant's experts are used unevenly.
func (v *Variant) uneven() bool { return v.Skew > 0 || v.Loads != nil }

// MaxConcurrency is the most requests in flight that a question may ask about.
const MaxConcurrency = 1 << 20
