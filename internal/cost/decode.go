package cost

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/work"
)

// usualDecode stands in where no engine's kernels were measured: the FlashMLA
// figures of the H800, 660 of 989 TFLOP/s and 3000 of 3350 GB/s
// (deepseek-ai/FlashMLA:README.md), one launch of a kernel and one for the join.
var usualDecode = hw.Decode{Share: 0.67, Memory: [hw.NumHeadDims]float64{0.9, 0.9, 0.9, 0.9, 0.9}, Reach: 2, Split: 256, Launch: launch, Join: launch}

// decode prices the core of few query tokens per sequence over a long cache.
//
//	items  = sequences x key heads, each split in parts where they are fewer than the SMs
//	memory = bytes / (rate x min(1, reach x items x parts / SMs))
//	compute= FLOPs x (rows + pad)/rows / rate, rows = query tokens x heads per key head
//	time   = launch + join + item x waves + max(memory, compute) + overlap x min
func (m *Machine) decode(op *work.Op) Price {
	d := m.decodeKernel(op)
	items := float64(max(op.Sequences, 1)) * float64(max(op.KVHeads, 1))
	rows := float64(max(op.Groups, 1)*max(op.SeqQ, 1)) / items
	bytes, f := float64(op.Bytes), float64(op.FLOPs)
	read, fast := bytes, 1.0
	if group := rows / float64(max(op.SeqQ, 1)); d.Group > 0 && group > d.Group {
		read, fast = bytes*group, d.GroupRate
		items, rows = items*group, rows/group
	}
	parts, waves := 1.0, 1.0 // where no SM count is published, all items are one wave
	if items < m.sms && d.Split > 0 {
		parts = max(1, min(math.Floor(m.sms/items), op.SeqKV/d.Split)) // a fraction: more keys must not take less time
	}
	if m.sms > 1 {
		waves = items * parts / m.sms
	}
	rate := m.hbm
	if share := d.Memory[headDim(op.HeadDim)]; share > 0 && m.peakHBM > 0 && !m.options.UsePeak {
		rate = min(rate, m.peakHBM*share)
	}
	rate *= fast
	if d.Reach > 0 {
		rate *= min(1, d.Reach*waves)
	}
	// Queries and results, 2 bytes for each of the FLOPs of one key, are few for one
	// item and need no reach.
	own := 0.0
	if op.SeqKV > 0 {
		own = min(bytes, f/op.SeqKV)
	}
	memory := over(read-own, rate) + over(own, m.hbm)
	if op.Warm && d.Near > 0 {
		near := min(max(2-bytes/float64(d.Near), 0), 1)
		memory *= 1 - near*(1-1/max(d.NearRate, 1))
	}
	flops := m.attFwd
	if d.Share > 0 && m.peakHalf > 0 && !m.options.UsePeak {
		flops = m.peakHalf * d.Share
	}
	executed := f * (rows + d.Pad) / rows
	compute := over(executed, flops*min(1, waves))
	start := float64(d.Launch) + float64(d.Item)*max(1, waves)
	if parts > 1 {
		start += float64(d.Join)
	}
	return m.price(kernel{flops: f, bytes: bytes, ceiling: max(m.attFwd, flops), executed: executed, rate: flops,
		compute: compute, memory: memory, overlap: d.Overlap, start: start})
}

// decodeKernel is the constants of a decode's core: the engine's own for the
// cache's format, those of the other format, the usual ones.
func (m *Machine) decodeKernel(op *work.Op) *hw.Decode {
	list := &m.serving.decode
	if op.HeadDim > hw.HeadDims[hw.NumHeadDims-1] && op.KVHeads == 1 {
		list = &m.serving.decodeMLA
	}
	at := 0
	if cache(op).Bits() <= 8 {
		at = 1
	}
	for _, i := range [...]int{at, 1 - at} {
		if list[i].Known() {
			return &list[i]
		}
	}
	return &usualDecode
}
