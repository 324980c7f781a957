package work

import (
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// product is one linear layer on one rank: rows x In times In x Out, Groups times.
type product struct {
	name, part string
	rows, in   int64 // rows of one group
	out        int64
	groups     int64
	total      int64 // rows of all groups together; 0 = rows x groups
	format     unit.Format
	fused      bool           // its input comes from a kernel that writes the low-precision copy itself
	again      plan.Recompute // module whose recomputation runs this product again
	bare       bool           // never carries an adapter
	parts      int64          // matrices side by side, each with an adapter of its own; 0 = 1
}

// linear adds forward, input-gradient and weight-gradient products with the
// casts that low-precision formats need, and LoRA's adapter where the base is frozen.
func (b *builder) linear(q product) {
	if q.groups == 0 {
		q.groups = 1
	}
	e := q.format.BytesPer()
	w := q.format.BytesPer()
	if q.total == 0 {
		q.total = q.rows * q.groups
	}
	rows, in, out := float64(q.total), float64(q.in), float64(q.out)
	weight := float64(q.in*q.out*q.groups) * w
	fwd := Op{Name: q.name, Part: q.part, Kind: q.kind(), Phase: Forward, Format: q.format, Count: 1,
		M: q.rows, N: q.out, K: q.in, Groups: q.groups,
		FLOPs: unit.FLOPs(2 * rows * in * out), Bytes: unit.Bytes(rows*in*e + weight + rows*out*bf16)}
	b.cast(q, Forward, q.total*q.in, q.fused, 1)
	b.dequantise(q, Forward)
	b.add(fwd)
	if b.p.Recompute&q.again != 0 {
		b.dequantise(q, Recompute)
		fwd.Phase = Recompute
		b.add(fwd)
	}
	b.dequantise(q, Input)
	b.cast(q, Input, q.total*q.out, false, 2)
	dx := fwd
	dx.Phase, dx.N, dx.K = Input, q.in, q.out
	dx.Bytes = unit.Bytes(rows*out*e + weight + rows*in*bf16)
	b.add(dx)
	b.widest(q.total * (q.in + q.out) * bf16)
	if b.p.Tuning != plan.FullTraining {
		if !q.bare {
			b.adapter(q)
		}
		return
	}
	b.cast(q, Weight, q.total*q.in, false, 1)
	dw := fwd
	dw.Phase, dw.M, dw.N, dw.K = Weight, q.in, q.out, q.rows
	grad := 2 * b.p.Precision.Gradients.BytesPer() // read and written: accumulation
	dw.Bytes = unit.Bytes(rows*(in+out)*e + in*out*float64(q.groups)*grad)
	b.add(dw)
}

// dequantise makes the 16-bit copy of a QLoRA base's weights that each product
// reads (arXiv:2305.14314 section 3).
func (b *builder) dequantise(q product, phase Phase) {
	if b.p.Tuning != plan.QLoRA {
		return
	}
	n := q.in * q.out * q.groups
	b.pass(q.name+" dequantise", q.part, phase, int64(plan.QLoRAFormat.Size(n))+n*bf16)
}

// kind is Grouped for routed experts even where a rank holds one: the number of
// its rows is known on the device only, and the grouped kernel is what runs.
func (q *product) kind() Kind {
	if q.part == partExpert {
		return Grouped
	}
	return GEMM
}

// cast adds the pass that makes copies low-precision copies of n 16-bit
// elements. A fused producer only writes; block formats re-read for each layout
// (1 x 128 tiles for the product, 128 x 1 for the weight gradient,
// arXiv:2412.19437 section 3.5.2).
func (b *builder) cast(q product, phase Phase, n int64, fused bool, copies int64) {
	if q.format.Bits() >= 16 || b.p.Tuning == plan.QLoRA {
		return
	}
	size := q.format.Size(n)
	bytes := unit.Bytes(n*bf16) + unit.Bytes(copies)*size
	if fused {
		bytes = size
	}
	if phase == Weight {
		bytes = 2 * size // the stored low-precision input is read and written transposed
	}
	b.add(Op{Name: q.name + " cast", Part: q.part, Kind: Elementwise, Phase: phase, Bytes: bytes, Count: launches(!fused)})
}

func launches(separate bool) int64 {
	if separate {
		return 1
	}
	return 0
}

// adapter adds LoRA's two thin products, forward and both gradients, in 16 bit.
func (b *builder) adapter(q product) {
	r := int64(b.p.LoRARank)
	wide := r * max(1, q.parts) // the parts' A side by side; each B reads its own r of them
	down := product{name: q.name + " lora a", part: "adapters", rows: q.rows, in: q.in, out: wide, groups: q.groups, total: q.total, format: unit.BF16}
	up := product{name: q.name + " lora b", part: "adapters", rows: q.rows, in: r, out: q.out, groups: q.groups, total: q.total, format: unit.BF16}
	for _, a := range []product{down, up} {
		flops := unit.FLOPs(2 * a.total * a.in * a.out)
		bytes := unit.Bytes((a.total*(a.in+a.out) + a.in*a.out*a.groups) * bf16)
		op := Op{Name: a.name, Part: a.part, Kind: q.kind(), Format: unit.BF16, M: a.rows, N: a.out, K: a.in,
			Groups: a.groups, FLOPs: flops, Bytes: bytes, Count: 1}
		for _, ph := range []Phase{Forward, Input, Weight} {
			op.Phase = ph
			switch ph {
			case Input:
				op.N, op.K = a.in, a.out
			case Weight:
				op.M, op.N, op.K = a.in, a.out, a.rows
			}
			b.add(op)
		}
	}
	b.save(unit.Bytes(q.total*wide*bf16), 0)
}

// pass adds a memory-bound kernel that moves bytes.
func (b *builder) pass(name, part string, phase Phase, bytes int64) {
	b.add(Op{Name: name, Part: part, Kind: Elementwise, Phase: phase, Bytes: unit.Bytes(bytes), Count: 1})
}

func (b *builder) add(op Op) { b.lay.Ops = append(b.lay.Ops, op) }

func (b *builder) widest(n int64) { b.lay.Working = max(b.lay.Working, unit.Bytes(n)) }
