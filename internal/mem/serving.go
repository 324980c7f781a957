package mem

import (
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// ServingPart is one line of a serving engine's memory table.
type ServingPart uint8

// The parts, in the order reports print them.
const (
	DenseWeights  ServingPart = iota // attention, dense and shared FFN, router, norms, absorbed matrices
	ExpertWeights                    // routed experts
	EndWeights                       // embedding and head
	DraftWeights                     // modules that draft tokens
	ServingWork                      // activations of the largest step, logits
	Graphs                           // CUDA graphs
	ServingBuffers
	ServingContext
	Cache // KV cache: all that the engine may still take
	NumServingParts
)

var servingNames = [NumServingParts]string{"weights", "experts", "embedding and head", "drafter", "activations", "cuda graphs", "buffers", "context", "kv cache"}

// String is the part's name in reports and JSON.
func (p ServingPart) String() string { return servingNames[p] }

// ServingParts is the table, in bytes per GPU.
type ServingParts [NumServingParts]unit.Bytes

// Total is the sum of all parts.
func (p *ServingParts) Total() unit.Bytes {
	var n unit.Bytes
	for _, b := range p {
		n += b
	}
	return n
}

// GraphBytes is the private pool of captured CUDA graphs, an assumption that
// reports show as a line of its own.
const GraphBytes unit.Bytes = 1 << 30

// ServingRank is what one rank of a serving instance holds before its cache.
type ServingRank struct {
	Stored  work.Stored // layers of its stage
	Ends    unit.Bytes
	Draft   unit.Bytes
	Working unit.Bytes
	Axes    int  // parallel axes larger than one
	Eager   bool // no CUDA graphs
}

// OfServing is the table of one rank that may take budget bytes: the cache is what
// the other parts leave, nothing where they do not fit; the total is then above the budget.
func OfServing(r *ServingRank, budget unit.Bytes) ServingParts {
	t := ServingParts{
		DenseWeights: r.Stored.Dense + r.Stored.Absorbed, ExpertWeights: r.Stored.Experts, EndWeights: r.Ends, DraftWeights: r.Draft,
		ServingWork: r.Working, Graphs: GraphBytes, ServingBuffers: unit.Bytes(r.Axes) * BufferBytes, ServingContext: ContextBytes,
	}
	if r.Eager {
		t[Graphs] = 0
	}
	t[Cache] = max(0, budget-t.Total())
	return t
}
