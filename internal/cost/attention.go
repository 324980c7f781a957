package cost

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// queryTile is the rows of a query tile in the FlashAttention kernels.
const queryTile = 128

// attentionRates are the attention constants with the device's rates multiplied in.
type attentionRates struct {
	forward  [hw.NumHeadDims]float64 // FLOP/s
	backward float64                 // backward over forward rate
	hw.Attention
}

// attention prices a fused core of Groups heads x sequences, SeqQ query rows each.
//
//	keys    = FLOPs / (4 d rows)                     mean keys of a row
//	total   = FLOPs (1 + fill/keys)
//	longest = 4 d 128 (2 keys + fill)                the last tile of a causal head
//	time    = max(total/SMs + tail longest, longest) / (rate of one SM)
func (m *Machine) attention(op *work.Op) Price {
	if m.vector {
		rate := m.attFwd
		if op.Decode && m.decodeCore > 0 {
			rate = m.decodeCore
		}
		return m.inOrder(op, over(float64(op.FLOPs), rate), max(rate, m.attFwd), over(float64(op.Bytes), m.hbm))
	}
	if op.Decode {
		return m.decode(op)
	}
	a := m.core(op)
	best, rate := m.attFwd, a.forward[headDim(op.HeadDim)]
	if op.Backward {
		best, rate = m.attBwd, rate*a.backward
	}
	f := float64(op.FLOPs)
	compute, own := over(f, rate), rate
	rows := float64(max(op.Groups, 1)) * float64(op.SeqQ)
	if rows > 0 && f > 0 && op.HeadDim > 0 {
		perKey := 4 * float64(op.HeadDim)
		keys := f / (perKey * rows)
		total := (1 + a.Fill/keys) * compute
		tile, last := float64(queryTile), 2*keys
		if op.SeqKV > 0 { // a serving step says how long its sequences are
			tile, last = min(queryTile, float64(op.SeqQ)), op.SeqKV
		}
		longest := over(perKey*tile*(last+a.Fill), rate/m.sms)
		if m.sms == 1 {
			longest = 0 // no SM count published: no tail
		}
		compute = max(total+a.Tail*longest, longest)
	}
	if share := m.options.Attention; share > 0 {
		compute, own = compute/share, own*share
	}
	bytes := float64(op.Bytes)
	start := float64(a.Launch)
	if a.Item > 0 {
		tiles := float64(max(op.Groups, 1)) * math.Ceil(float64(op.SeqQ)/queryTile)
		if m.sms == 1 {
			tiles = 1 // as above: no waves
		}
		start += float64(a.Item) * max(1, tiles/m.sms)
	}
	return m.price(kernel{flops: f, bytes: bytes, ceiling: max(best, rate), executed: f, rate: own,
		compute: compute, memory: over(bytes, m.hbm), overlap: a.Stream, start: start})
}

// core is the constants of a core that is not a decode.
func (m *Machine) core(op *work.Op) *attentionRates {
	serving := m.options.Engine != ""
	switch {
	case op.HeadDim == hw.MLADim && op.KVHeads*max(op.Sequences, 1) == op.Groups && serving:
		return &m.serving.latent[hw.Operands(op.Format, cache(op))]
	case serving:
		return &m.serving.context[hw.Operands(op.Format, cache(op))]
	case op.HeadDim == hw.MLADim:
		return &m.mla
	}
	return &m.att
}

// cache is the format of the keys and values; the operands' own where none is said.
func cache(op *work.Op) unit.Format {
	if op.KV == unit.FP32 {
		return op.Format
	}
	return op.KV
}

// headDim is the index of the smallest tabled dimension that holds d.
func headDim(d int64) int {
	for i, h := range hw.HeadDims {
		if d <= h {
			return i
		}
	}
	return hw.NumHeadDims - 1
}

// resolveAttention prepares the core's rates: the generation's share of the BF16
// peak by head dimension, the device's own measurement where nothing was fitted.
// The ceiling of the floor is the best of them all.
func (m *Machine) resolveAttention(d *hw.Device, k *hw.Kernels) {
	half := max(m.matrix[unit.BF16], m.matrix[unit.FP16])
	m.attFwd = half * usualAttention
	if d.Achieved.AttentionFwd.Known() {
		m.attFwd = d.Achieved.AttentionFwd.Value
	} else if k.Attention.Share[0] == 0 && !m.options.UsePeak {
		m.assume(note.AttentionAssumed, "device share", "attention forward of %s: not measured, %.2f of its GEMM rate assumed", d.Name, usualAttention)
	}
	backward := usualBackward
	switch b := d.Achieved.AttentionBwd; {
	case m.options.UsePeak:
		m.attFwd, backward = half, 1
	case b.Known():
		backward = min(1, b.Value/m.attFwd)
	default:
		m.assume(note.BackwardAssumed, "device share", "attention backward of %s: not measured, %.2f of its forward rate assumed", d.Name, usualBackward)
	}
	peak := d.Peak.Matrix[unit.BF16].Value
	m.att = m.attentionRates(k.Attention, peak, half, backward)
	m.mla = m.attentionRates(k.MLA, peak, half, backward)
	for i := range hw.NumHeadDims {
		m.attFwd = max(m.attFwd, m.att.forward[i], m.mla.forward[i])
	}
	m.attBwd = m.attFwd * backward
}

func (m *Machine) attentionRates(a hw.Attention, peak, limit, backward float64) attentionRates {
	r := attentionRates{Attention: a, backward: backward}
	for i, share := range a.Share {
		r.forward[i] = m.attFwd
		if share > 0 && peak > 0 && !m.options.UsePeak {
			r.forward[i] = min(peak*share, limit)
		}
	}
	return r
}
