package cost

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/work"
)

// usualDecode stands in where no engine's kernels were measured: the FlashMLA
// figures of the H800, 660 of 989 TFLOP/s and 3000 of 3350 GB/s
// (deepseek-ai/FlashMLA:README.md), one launch of a kernel and one for the join.
var usualDecode = hw.Decode{Share: 0.67, Memory: 0.9, Cache8: 1, Reach: 2, Split: 256, Launch: launch, Join: launch}

// decode prices the core of few query tokens per sequence over a long cache.
//
//	items  = sequences x key heads, each split in parts where they are fewer than the SMs
//	memory = bytes / (rate x min(1, reach x items x parts / SMs))
//	compute= FLOPs x (rows + pad)/rows / rate, rows = query tokens x heads per key head
//	time   = launch + join + item x waves + max(memory, compute) + overlap x min
func (m *Machine) decode(op *work.Op) Price {
	d := &m.serving.decode
	if op.HeadDim > hw.HeadDims[hw.NumHeadDims-1] && op.KVHeads == 1 && m.serving.decodeMLA.Known() {
		d = &m.serving.decodeMLA
	}
	if !d.Known() {
		d = &usualDecode
	}
	items := float64(max(op.Sequences, 1)) * float64(max(op.KVHeads, 1))
	parts := 1.0
	if items < m.sms && d.Split > 0 {
		parts = max(1, min(math.Floor(m.sms/items), op.SeqKV/d.Split)) // a fraction: more keys must not take less time
	}
	waves := items * parts / m.sms
	rate := m.hbm
	if d.Memory > 0 && m.peakHBM > 0 && !m.options.UsePeak {
		rate = min(rate, m.peakHBM*d.Memory)
	}
	if op.KV.Bits() == 8 && d.Cache8 > 0 {
		rate *= d.Cache8
	}
	if d.Reach > 0 {
		rate *= min(1, d.Reach*waves)
	}
	bytes, f := float64(op.Bytes), float64(op.FLOPs)
	// Queries and results, 2 bytes for each of the FLOPs of one key, are few for one
	// item and need no reach.
	own := 0.0
	if op.SeqKV > 0 {
		own = min(bytes, f/op.SeqKV)
	}
	memory := over(bytes-own, rate) + over(own, m.hbm)
	if op.Warm && d.Near > 0 {
		near := min(max(2-bytes/float64(d.Near), 0), 1)
		memory *= 1 - near*(1-1/max(d.NearRate, 1))
	}
	flops := m.attFwd
	if d.Share > 0 && m.peakHalf > 0 && !m.options.UsePeak {
		flops = m.peakHalf * d.Share
	}
	rows := float64(max(op.Groups, 1)*max(op.SeqQ, 1)) / items
	compute := over(f*(rows+d.Pad)/rows, flops*min(1, waves))
	start := float64(d.Launch) + float64(d.Item)*max(1, waves)
	if parts > 1 {
		start += float64(d.Join)
	}
	return m.price(f, max(m.attFwd, flops), bytes, compute, memory, d.Overlap, start)
}
