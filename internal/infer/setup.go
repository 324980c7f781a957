package infer

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/balance"
	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
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
	// it fewer are touched by a step; 0 = even.
	Skew float64
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

// Engine is one instance, ready to price steps. It serves one goroutine.
type Engine struct {
	setup   Setup
	machine *cost.Machine
	profile *Profile
	ops     work.Serving
	kinds   []kind
	stages  []stage
	head    *curve
	embed   *curve
	hops    []hop
	half    float64 // seconds that an exchange between nodes waits: half a round trip
	extra   float64 // half less what the machine's prices hold of it; may be negative
	scratch []work.Op
	notes   []string
	memory  Memory
	load    cacheLoad // of the stage in memory
}

// kind is a group of equal layers with its tabulated costs. Curves of two modes
// differ where steps without prompts use other exchange kernels.
type kind struct {
	layer   *model.Layer
	count   int64
	shared  [2]*curve // by tokens of a replica: everything but core and experts
	experts *curve    // by tokens of all replicas
	absorb  *curve    // by generated tokens of a replica
	expand  *curve    // by prompt tokens of a replica
	last    float64   // seconds of one layer in the last step
}

// stage is how many layers of each kind a pipeline stage holds.
type stage struct{ count []int64 }

// New checks the setup and prepares its prices. An impossible layout is an error of
// one line. A model that does not fit is a *MemoryError beside an engine that
// prices its steps all the same, for whoever asks how far off it is.
func New(s *Setup) (*Engine, error) {
	e := &Engine{setup: *s}
	if err := e.defaults(); err != nil {
		return nil, err
	}
	if err := e.setup.Plan.Check(s.Model, s.Cluster.GPUs); err != nil {
		return nil, err
	}
	if err := e.price(); err != nil {
		return nil, err
	}
	e.ops = work.Serving{Model: s.Model, Plan: &e.setup.Plan, Weights: s.Weights, Experts: s.Experts, KV: s.KV,
		Product: e.product(s.Weights, "weights"), ExpertProduct: e.product(s.Experts, "experts"), Dispatch: unit.BF16}
	if e.ops.ExpertProduct.Bits() <= 8 {
		e.ops.Dispatch = unit.FP8Block
	}
	e.layers()
	e.tabulate()
	e.crossings()
	return e, e.measure()
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
		s.Profile = DefaultProfile(s.Cluster.Device.Arch)
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

// price takes the machine or builds it.
func (e *Engine) price() error {
	s := &e.setup
	e.machine = s.Machine
	if e.machine == nil {
		m, err := cost.New(s.Cluster, cost.Options{UsePeak: s.Peak, Engine: e.profile.Engine, Eager: s.Eager})
		if err != nil {
			return err
		}
		e.machine = m
	}
	own := float64(e.machine.FabricLatency())
	e.half = own
	if s.RTT != nil {
		e.half = float64(*s.RTT) / 2
	}
	e.extra = e.half - own
	return nil
}

// product is the format that weights stored in f are multiplied in: f where the
// device multiplies it, 16 bit otherwise, which reads the few bytes and widens
// them. 4-bit integers are always widened (GPTQ and AWQ kernels).
func (e *Engine) product(f unit.Format, what string) unit.Format {
	if f != unit.INT4 && e.machine.Supports(f) == nil {
		return f
	}
	if what == "experts" && !e.setup.Model.MoE() {
		return unit.BF16
	}
	wide := unit.BF16
	if e.machine.Supports(wide) != nil {
		wide = unit.FP16
	}
	e.note("%s has no %s products: %s are read in %s and multiplied in %s", e.setup.Cluster.Device.Name, f, what, f, wide)
	return wide
}

func (e *Engine) note(format string, args ...any) {
	e.notes = append(e.notes, fmt.Sprintf(format, args...))
}

// Warnings are what a reader must know about the answer, one line each.
func (e *Engine) Warnings() []string { return e.notes }

// Assumptions are figures that nobody measured and what stood in for them.
func (e *Engine) Assumptions() []string { return e.machine.Assumptions() }

// Setup is the engine's setup with its defaults filled in.
func (e *Engine) Setup() *Setup { return &e.setup }

// Machine is what prices the engine's operations.
func (e *Engine) Machine() *cost.Machine { return e.machine }
