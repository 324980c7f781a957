package infer

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/balance"
	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Setup is everything an engine instance is made of. Model, Cluster, Plan and the
// three formats are required, zero values of the rest are defaults.
type Setup struct {
	Model   *model.Model
	Cluster *hw.Cluster
	Plan    plan.Serving
	// Formats in memory: linears outside the routed experts, routed experts, KV
	// cache. See CheckpointFormats for what a model was published in.
	Weights, Experts, KV unit.Format

	Profile        *Profile      // nil = DefaultProfile
	Machine        *cost.Machine // prices; nil = built from Cluster, Profile, Peak and Eager
	RTT            *unit.Seconds // full round trip between nodes; nil = the fabric's own
	MaxBatchTokens int64         // tokens of one step and replica, prompts read in chunks of what is left; 0 = the profile's
	MaxSequences   int64         // generating at once on one replica; 0 = DefaultSequences
	Context        int64         // tokens of a usual request, see Engine.KVTokens; 0 = DefaultContext
	Utilization    float64       // of device memory; 0 = DefaultUtilization
	Imbalance      float64       // rows of the busiest expert rank over the mean; 0 = balanced
	// Skew is the power-law exponent of the experts' popularity (balance.PowerLaw): with
	// it fewer are touched by a step; 0 = UsualSkew.
	Skew float64
	// Popularity is the load of each expert in place of Skew; nil = by Skew.
	Popularity *balance.Given
	// Loads, where given, is the imbalance by the tokens of a step, in place of Imbalance.
	Loads *balance.Imbalance
	MTP   int  // multi-token-prediction modules loaded beside the model
	Peak  bool // datasheet rates instead of achieved ones
	Eager bool // no CUDA graphs
}

// Defaults of a Setup. The share of memory is vLLM's gpu_memory_utilization.
const (
	DefaultUtilization = 0.9
	DefaultSequences   = 1024
	DefaultContext     = 8192
)

// CheckpointFormats is what the model was published in: weights, routed experts,
// and a 16-bit cache.
func CheckpointFormats(m *model.Model) (weights, experts, kv unit.Format) {
	weights, experts = m.Checkpoint.Weights, m.Checkpoint.Experts
	if weights == unit.FP32 {
		weights = unit.BF16
	}
	if experts == unit.FP32 {
		experts = weights
	}
	return weights, experts, unit.BF16
}

// defaults fills absent settings and refuses impossible ones.
func (e *Engine) defaults() error {
	s := &e.setup
	if s.Model == nil || s.Cluster == nil {
		return fmt.Errorf("a serving setup needs a model and a cluster: give both")
	}
	for _, d := range []*int{&s.Plan.TP, &s.Plan.PP, &s.Plan.DP, &s.Plan.EP, &s.Plan.DCP, &s.Plan.Replicas} {
		if *d == 0 {
			*d = 1
		}
	}
	if s.Profile == nil {
		s.Profile, _ = ProfileOn("", s.Cluster.Device) // only a name can be wrong
	}
	e.profile = s.Profile
	if s.RTT != nil && !(*s.RTT >= 0) {
		return fmt.Errorf("network round trip of %g s is negative: give 0 or more", float64(*s.RTT))
	}
	if s.Utilization == 0 {
		s.Utilization = DefaultUtilization
	}
	if !(s.Utilization > 0 && s.Utilization <= 1) {
		return fmt.Errorf("memory utilization %g is not a share of the device: give more than 0 and at most 1", s.Utilization)
	}
	if s.Imbalance != 0 && !(s.Imbalance >= 1) {
		return fmt.Errorf("expert imbalance %g is below 1: it is the busiest rank's load over the mean", s.Imbalance)
	}
	if _, err := balance.PowerLaw(max(int(s.Model.MaxExperts()), 1), s.Skew); err != nil {
		return err
	}
	for _, d := range []struct {
		field *int64
		usual int64
		name  string
	}{{&s.MaxBatchTokens, e.profile.BatchTokens, "tokens per step"}, {&s.MaxSequences, DefaultSequences, "sequences"}, {&s.Context, DefaultContext, "usual context"}} {
		if *d.field == 0 {
			*d.field = d.usual
		}
		if *d.field < 1 {
			return fmt.Errorf("%d %s: give at least 1", *d.field, d.name)
		}
	}
	return nil
}
