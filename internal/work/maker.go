package work

import (
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// Maker builds layers in memory of its own, for callers that build many and keep
// none: the Ops of a Layer are valid until the Maker's next call. The zero Maker
// is ready; it serves one goroutine.
type Maker struct {
	ops, spare []Op
	weights    map[*model.Layer][]model.Weight
}

// Layer is BuildLayer with k's memory.
func (k *Maker) Layer(m *model.Model, l *model.Layer, p *plan.Plan, seq int64) Layer {
	b := k.builder(m, p, seq)
	b.block(l)
	b.finish()
	return k.done(&b)
}

// done keeps the memory of the builder's operations for the next one.
func (k *Maker) done(b *builder) Layer {
	k.ops = b.lay.Ops
	return b.lay
}

// weightsOf lists a layer's weights, once per layer.
func (k *Maker) weightsOf(m *model.Model, l *model.Layer) []model.Weight {
	ws := k.weights[l]
	if ws == nil {
		ws = m.Weights(l)
		if k.weights == nil {
			k.weights = map[*model.Layer][]model.Weight{}
		}
		k.weights[l] = ws
	}
	return ws
}
