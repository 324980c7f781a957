package infer

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ridgeline/ridgeline/internal/hw"
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

// ExchangeCeiling is the decode limit of expert parallelism: per layer, tokens of
// one device travel to their experts and back and nothing else takes time.
type ExchangeCeiling struct {
	Pair   unit.Seconds // dispatch and combine of one layer and micro-batch
	Step   unit.Seconds // two micro-batches through all layers
	Tokens float64      // per second and user
}

// NewExchangeCeiling follows arXiv:2505.09343 section 2.3.2: tokens x hidden x copies
// x bytes (dispatch and combine together) over the link, twice for two micro-batches.
//
//	pair = bytes tokens copies hidden / rate,  step = 2 layers pair
func NewExchangeCeiling(tokens, hidden, copies, layers int64, bytes float64, rate unit.ByteRate) (ExchangeCeiling, error) {
	if tokens < 1 || hidden < 1 || copies < 1 || layers < 1 || !(bytes > 0) || !(rate > 0) {
		return ExchangeCeiling{}, fmt.Errorf("exchange of %d tokens x %d features x %d copies x %g bytes in %d layers at %g B/s: give positive figures",
			tokens, hidden, copies, bytes, layers, float64(rate))
	}
	pair := unit.Seconds(bytes * float64(tokens) * float64(copies) * float64(hidden) / float64(rate))
	step := 2 * unit.Seconds(layers) * pair
	return ExchangeCeiling{Pair: pair, Step: step, Tokens: 1 / float64(step)}, nil
}

// Ridge is where a device turns from memory-bound to compute-bound.
type Ridge struct {
	Device     string
	Format     unit.Format
	FLOPs      unit.FLOPRate // datasheet, dense
	Bandwidth  unit.ByteRate // datasheet
	PerByte    float64       // ridge point in FLOP per byte
	Batch      float64       // tokens per weight at the ridge: 2 FLOPs per weight of the format's size
	Achievable float64       // ridge point of the achieved rates; 0 where one of them is not known
}

// Ridges lists the devices that multiply in format f, the highest ridge first.
func Ridges(devices []*hw.Device, f unit.Format) []Ridge {
	var out []Ridge
	for _, d := range devices {
		rate, hbm := d.Peak.Matrix[f], d.Peak.HBM
		if !rate.Known() || !hbm.Known() {
			continue
		}
		r := Ridge{Device: d.Name, Format: f, FLOPs: unit.FLOPRate(rate.Value), Bandwidth: unit.ByteRate(hbm.Value), PerByte: rate.Value / hbm.Value}
		r.Batch = r.PerByte * f.BytesPer() / 2
		if a, b := d.Achieved.Matrix[f], d.Achieved.HBM; a.Known() && b.Known() {
			r.Achievable = a.Value / b.Value
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b Ridge) int { return cmp.Compare(b.PerByte, a.PerByte) })
	return out
}
