package infer

import (
	"slices"

	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

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
	notes   note.List // warnings
	narrow  bool      // weights are read in fewer bits than they are multiplied in, by kernels that nobody measured
	assumed note.List
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

// stage is how many layers of each kind a pipeline stage holds, and MTP modules.
type stage struct {
	count []int64
	mtp   int
}

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
		Product: e.product(s.Weights, "weights"), ExpertProduct: e.product(s.Experts, "experts"), Half: e.wide(), Dispatch: unit.BF16}
	if f := s.Model.Checkpoint.Head; f != unit.FP32 {
		e.ops.HeadLinear = work.Linear{Stored: f, Product: e.product(f, "head")}
	}
	if f := s.Model.Checkpoint.Absorbed; f != unit.FP32 {
		e.ops.AbsorbedLinear = work.Linear{Stored: f, Product: e.product(f, "absorbed matrices")}
	}
	if e.ops.ExpertProduct.Bits() <= 8 {
		e.ops.Dispatch = unit.FP8Block
	}
	if e.profile.Engine == OtherEngine {
		e.assumed = append(e.assumed, note.New(note.EngineAssumed, "", "engine %s: no run of it is known, what vLLM, SGLang and TensorRT-LLM add to their kernels on average is assumed", OtherEngine))
	}
	e.named()
	e.layers()
	e.machine = e.machine.Reading(e.WorkingSet())
	e.expertKernel()
	e.ops.Imbalance = e.imbalance
	e.tabulate()
	e.crossings()
	return e, e.measure()
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

// wide is the 16-bit format that the device multiplies.
func (e *Engine) wide() unit.Format {
	if e.machine.Supports(unit.BF16) != nil {
		return unit.FP16
	}
	return unit.BF16
}

// Warnings are what a reader must know about the answer, one line each.
func (e *Engine) Warnings() note.List { return e.notes }

// Assumptions are figures that nobody measured and what stood in for them, and
// formats that the device does not multiply.
func (e *Engine) Assumptions() note.List {
	return slices.Concat(e.machine.Assumptions(), e.assumed)
}

// Setup is the engine's setup with its defaults filled in.
func (e *Engine) Setup() *Setup { return &e.setup }

// Machine is what prices the engine's operations.
func (e *Engine) Machine() *cost.Machine { return e.machine }
