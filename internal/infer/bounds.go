package infer

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// StreamedParams is the parameters that one generated token reads: the active ones
// without the rows of the input embedding that other tokens use.
func StreamedParams(m *model.Model) int64 {
	n := m.ActiveParams()
	if !m.Tied {
		n -= m.EmbeddingParams()
	}
	return n
}

// DecodeBound is the tokens per second of one sequence on one device that streams
// every parameter it uses once per token, whatever the memory holds.
func DecodeBound(params int64, f unit.Format, rate unit.ByteRate) float64 {
	return 1 / float64(f.Size(params).Over(rate))
}

// Ceiling is the decode limit of expert parallelism (arXiv:2505.09343 section 2.3.2):
// per layer, tokens of one device travel to their experts and back, for two
// micro-batches, and nothing else takes time.
//
//	pair = bytes tokens copies hidden / rate,  step = 2 layers pair
type Ceiling struct {
	Tokens, Hidden, Copies, Layers int64         // tokens of a device and micro-batch
	Bytes                          float64       // per feature, there and back
	Rate                           unit.ByteRate // of a device's link, one way
	Example                        bool          // publishedTokens and round shapes in place of the plan's load
}

// Published tells whether c is one of the two cases that the paper prices.
func (c *Ceiling) Published() bool {
	return c.Example && c.Tokens == publishedTokens && c.Hidden == publishedHidden && c.Copies == publishedCopies &&
		c.Layers == publishedLayers && c.Bytes == publishedBytes && (c.Rate == publishedNIC || c.Rate == publishedRate)
}

// Pair is the dispatch and the combine of one layer and micro-batch.
func (c *Ceiling) Pair() unit.Seconds {
	return unit.Seconds(c.Bytes * float64(c.Tokens) * float64(c.Copies) * float64(c.Hidden) / float64(c.Rate))
}

// Step is two micro-batches through all layers.
func (c *Ceiling) Step() unit.Seconds { return 2 * unit.Seconds(c.Layers) * c.Pair() }

// PerUser is the tokens per second that a user sees.
func (c *Ceiling) PerUser() float64 { return 1 / float64(c.Step()) }

// The published example, DeepSeek-V3: hidden features in whole thousands, 8 routed
// experts and a shared one, FP8 there and BF16 back, every layer taken as routed, over
// a NIC of 400 Gbit/s and over the 900 GB/s of a domain of 72 GPUs.
const (
	publishedTokens = 32
	publishedHidden = 7000
	publishedCopies = 9
	publishedLayers = 61
	publishedBytes  = 3
	publishedNIC    = 50e9
	publishedRate   = 900e9
	thousand        = 1000
)

// Ceilings is what the exchange of routed experts alone would allow when batch
// sequences of the instance generate over a link of the given rate; and, after it, the
// way of counting of the published example for this model over that link and, where it
// is another, over the faster one. Pipeline stages exchange their micro-batches side by side. Nil without
// routed experts on ranks of their own.
func (e *Engine) Ceilings(batch int, rate unit.ByteRate) []Ceiling {
	m, p := e.setup.Model, &e.setup.Plan
	if !p.Exchange() || !m.MoE() || rate <= 0 {
		return nil
	}
	own := Ceiling{Tokens: max(1, ceil(int64(batch), int64(2*p.Ranks()*p.PP))), Hidden: m.Hidden, Rate: rate,
		Bytes: e.ops.Dispatch.BytesPer() + unit.BF16.BytesPer()}
	for i := range m.Layers {
		if f := &m.Layers[i].FFN; f.MoE() {
			own.Layers++
			own.Copies = f.TopK
			if f.SharedInner > 0 {
				own.Copies++
			}
		}
	}
	example := own
	example.Example = true
	example.Tokens, example.Layers, example.Bytes = publishedTokens, int64(len(m.Layers)), math.Floor(own.Bytes) // without scales
	if example.Hidden >= thousand {
		example.Hidden -= example.Hidden % thousand
	}
	if rate == publishedRate {
		return []Ceiling{own, example}
	}
	fast := example
	fast.Rate = publishedRate
	return []Ceiling{own, example, fast}
}
