package train

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// Row is one operation of one rank for one micro-batch, priced.
type Row struct {
	Layer string // which kind of layer, and how many the model has
	Times int    // layers of that kind in the model
	work.Op
	Lower, Estimate, Upper unit.Seconds
	Bound                  string // compute, hbm, nvlink, network or latency
	Padded                 bool   // see cost.Price
	Algorithm              string // collectives
}

// Intensity is FLOPs per byte of HBM traffic; 0 without arithmetic.
func (r *Row) Intensity() float64 {
	if r.Bytes == 0 {
		return 0
	}
	return float64(r.FLOPs) / float64(r.Bytes)
}

// Explain lists the operations of every distinct layer, of embedding, head and
// MTP modules, in order. Estimates are isolated kernels: the step divides them
// by the share of that speed that a whole step holds.
func (e *Evaluator) Explain(p *plan.Plan) []Row {
	m, seq := e.job.Model, int64(e.job.Seq)
	var rows []Row
	add := func(name string, times int, l work.Layer) {
		for _, op := range l.Ops {
			rows = append(rows, e.row(name, times, op))
		}
	}
	add("embedding", 1, work.BuildEmbedding(m, p, seq))
	for i := range e.classes {
		l := &e.classes[i]
		n := int(e.prefix[i][len(m.Layers)])
		add(fmt.Sprintf("%s x %d", layerName(l), n), n, work.BuildLayer(m, l, p, seq))
	}
	add("head", 1, work.BuildHead(m, p, seq))
	for i := range min(e.job.MTP, len(m.MTP)) {
		add("mtp module", 1, work.BuildMTP(m, &m.MTP[i], p, seq))
	}
	return rows
}

func layerName(l *model.Layer) string {
	if l.FFN.MoE() {
		return "moe layer, " + l.Attention.Summary()
	}
	return "dense layer, " + l.Attention.Summary()
}

func (e *Evaluator) row(name string, times int, op work.Op) Row {
	r := Row{Layer: name, Times: times, Op: op}
	if op.Kind == work.Collective {
		x := e.mach.Collective(&op.Comm)
		r.Lower, r.Estimate, r.Upper, r.Bound, r.Algorithm = x.Floor, x.Estimate, x.Upper, x.Link.String(), x.Algorithm
		return r
	}
	x := e.mach.Op(&op)
	r.Lower, r.Estimate, r.Upper, r.Bound, r.Padded = x.Floor, x.Estimate, x.Upper, x.Bound.String(), x.Padded
	return r
}

// Layout lays the plan's estimated passes out in time, for drawings and traces.
func (e *Evaluator) Layout(p *plan.Plan) (*sched.Layout, error) {
	l := e.prepare(p)
	spec := e.spec(p, &l)
	spec.MicroBatches = p.MicroBatches(e.job.GlobalBatch)
	return sched.Lay(&spec)
}

// Algorithm is one way to run the collectives of ZeRO-3 over a step, with the
// seconds each link is busy.
type Algorithm struct {
	Name            string
	NVLink, Network unit.Seconds
}

// Sharding lists the algorithms for the weight gathers and gradient scatters of
// a ZeRO-3 plan, what a rank holds and for one micro-batch: the seconds that a
// flat ring and a hierarchical one keep each link busy. Every further
// micro-batch of a step repeats them. Empty for other plans.
func (e *Evaluator) Sharding(p *plan.Plan) []Algorithm {
	if p.ZeRO < 3 {
		return nil
	}
	l := e.prepare(p)
	var all work.Params
	for _, k := range l.topo.of {
		all.Add(l.chunks[k].params, 1)
		all.Add(l.chunks[k].ends, 1)
	}
	m := 1 / unit.Seconds(p.PP)
	pr := &p.Precision
	sums := map[string]*Algorithm{}
	var order []string
	collect := func(kind work.CommKind, axis work.Axis, n, stride int, params int64, f unit.Format, repeat unit.Seconds) {
		if n <= 1 || params == 0 {
			return
		}
		c := work.Comm{Kind: kind, Axis: axis, Size: int64(n), Stride: int64(stride), Bytes: f.Size(params)}
		for _, t := range e.mach.Alternatives(&c) {
			a := sums[t.Algorithm]
			if a == nil {
				a = &Algorithm{Name: t.Algorithm}
				sums[t.Algorithm] = a
				order = append(order, t.Algorithm)
			}
			a.NVLink += repeat * t.ScaleUp
			a.Network += repeat * t.Network
		}
	}
	collect(work.AllGather, work.AxisDP, p.Shards(), p.TP, all.Dense, pr.Gather, 2*m)
	collect(work.AllGather, work.AxisEDP, p.ExpertShards(), p.ETP*p.EP, all.Expert, pr.Gather, 2*m)
	collect(work.ReduceScatter, work.AxisDP, p.Shards(), p.TP, all.TrainedDense, pr.GradReduce, m)
	collect(work.ReduceScatter, work.AxisEDP, p.ExpertShards(), p.ETP*p.EP, all.TrainedExpert, pr.GradReduce, m)
	var list []Algorithm
	for _, name := range order {
		list = append(list, *sums[name])
	}
	return list
}
