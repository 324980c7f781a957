package work

import (
	"cmp"
	"math"

	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Serving lists the operations of one rank of a serving instance. Its methods
// append to a slice that the caller may use again; none of them needs memory of
// its own. Rows are always tokens of one attention replica, which its TP ranks
// share; experts see the tokens of all replicas.
type Serving struct {
	Model *model.Model
	Plan  *plan.Serving
	// Formats in memory: linears outside the routed experts, routed experts, cache.
	// Router, norms and embedding are BF16.
	Weights, Experts, KV       unit.Format
	HeadLinear, AbsorbedLinear Linear // LM head and MLA's absorbed matrices; zero = 16 bit
	// Product and ExpertProduct are the formats multiplied in: the stored ones, or
	// BF16 where the device has none and converts weights as it reads them.
	Product, ExpertProduct unit.Format
	// Half multiplies what has 16 bit; zero = BF16.
	Half unit.Format
	// Dispatch is the format of tokens on their way to the experts; they return in BF16.
	Dispatch unit.Format
	// ExpertKernel names the kernel of the routed experts; "" = the fastest for each step.
	ExpertKernel string
	// LowLatency marks dispatch by the kernels of decode steps.
	LowLatency bool
	// Imbalance is the choices of the fullest expert rank over the mean when the replicas
	// route so many tokens together; nil = even.
	Imbalance func(tokens float64) float64
}

// Linear is the formats of a matrix in memory and in products. The zero value is 16 bit.
type Linear struct{ Stored, Product unit.Format }

func (s *Serving) formats(l Linear) (stored, product unit.Format) {
	if l == (Linear{}) {
		return unit.BF16, cmp.Or(s.Half, unit.BF16)
	}
	return l.Stored, l.Product
}

// linearLoad is one product of a serving step.
type linearLoad struct {
	name, part string
	rows       float64 // of all groups
	in, out    int64
	groups     int64
	touched    float64     // routed experts: groups with rows
	choices    float64     // routed experts, see Op.Choices
	stored     unit.Format // of the weights
	product    unit.Format
}

// add appends the product: weights of touched groups, inputs and results move once.
func (s *Serving) add(dst []Op, q *linearLoad) []Op {
	if q.groups == 0 {
		q.groups = 1
	}
	read := float64(q.groups)
	op := Op{Name: q.name, Part: q.part, Kind: GEMM, Phase: Forward, Format: q.product,
		M: int64(math.Ceil(q.rows / float64(q.groups))), N: q.out, K: q.in, Groups: q.groups, Count: 1}
	if q.part == partExpert {
		op.Kind, op.Rows, op.Touched, op.Held, op.Choices, op.Kernel = Grouped, q.rows, q.touched, q.groups, q.choices, s.ExpertKernel
		op.Groups = int64(math.Ceil(q.touched))
		op.M = int64(math.Ceil(q.rows / q.touched))
		read = q.touched
	}
	if q.stored != q.product {
		op.Stored = q.stored
	}
	op.FLOPs = unit.FLOPs(2 * q.rows * float64(q.in*q.out))
	act := min(q.product.BytesPer(), bf16)
	op.Bytes = unit.Bytes(q.rows*(float64(q.in)*act+float64(q.out)*bf16) + read*float64(q.stored.Size(q.in*q.out)))
	return append(dst, op)
}

// linear adds a product outside the routed experts.
func (s *Serving) linear(dst []Op, name, part string, rows, in, out int64) []Op {
	q := linearLoad{name: name, part: part, rows: float64(rows), in: in, out: out, stored: s.Weights, product: s.Product}
	return s.add(dst, &q)
}

// plain adds a product of weights in formats of their own, 16 bit where l is zero.
func (s *Serving) plain(dst []Op, l Linear, name, part string, rows, in, out, groups int64) []Op {
	q := linearLoad{name: name, part: part, rows: float64(rows * max(groups, 1)), in: in, out: out, groups: groups}
	q.stored, q.product = s.formats(l)
	return s.add(dst, &q)
}

// pass adds a memory-bound kernel.
func (s *Serving) pass(dst []Op, name, part string, bytes float64) []Op {
	return append(dst, Op{Name: name, Part: part, Kind: Elementwise, Phase: Forward, Bytes: unit.Bytes(bytes), Count: 1})
}

// comm adds a collective.
func (s *Serving) comm(dst []Op, name, part string, c Comm) []Op {
	if c.Size <= 1 || c.Bytes <= 0 {
		return dst
	}
	return append(dst, Op{Name: name, Part: part, Kind: Collective, Phase: Forward, Comm: c, Count: 1})
}

// reduce sums n rows of the hidden size over the TP ranks of a replica.
func (s *Serving) reduce(dst []Op, name, part string, n int64) []Op {
	return s.comm(dst, name, part, Comm{Kind: AllReduce, Axis: AxisTP, Size: int64(s.Plan.TP), Stride: 1,
		Bytes: unit.Bytes(n * s.Model.Hidden * bf16), OneShot: true})
}

// norm adds residual addition and normalisation: two reads, two writes.
func (s *Serving) norm(dst []Op, name, part string, n int64) []Op {
	return s.pass(dst, name, part, float64(4*n*s.Model.Hidden*bf16))
}

// Embedding is the lookup of n tokens and its sum over the vocabulary's shards.
func (s *Serving) Embedding(dst []Op, n int64) []Op {
	dst = s.pass(dst, "lookup", partEmbedding, float64(2*n*s.Model.Hidden*bf16))
	return s.reduce(dst, "embedding reduce", partEmbedding, n)
}

// Head is final norm, LM head and sampling on n rows of one replica: only tokens
// that are sampled from.
func (s *Serving) Head(dst []Op, n int64) []Op {
	tp := int64(s.Plan.TP)
	v := (s.Model.Vocab + tp - 1) / tp
	dst = s.norm(dst, "final norm", partHead, n)
	dst = s.plain(dst, s.HeadLinear, "lm head", partHead, n, s.Model.Hidden, v, 1)
	dst = s.comm(dst, "logits gather", partHead, Comm{Kind: AllGather, Axis: AxisTP, Size: tp, Stride: 1, Bytes: unit.Bytes(n * v * tp * bf16)})
	return s.pass(dst, "sampling", partHead, float64(n*s.Model.Vocab*(bf16+2*4)))
}

// Hop hands n rows to the next pipeline stage, stride ranks away.
func (s *Serving) Hop(dst []Op, n, stride int64) []Op {
	return s.comm(dst, "stage hop", "pipeline", Comm{Kind: SendRecv, Axis: AxisPP, Size: 2, Stride: stride,
		Bytes: unit.Bytes(n * s.Model.Hidden * bf16)})
}
