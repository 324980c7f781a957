package train

import (
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// layerCost is a layer priced under one shape: its passes and its memory.
type layerCost struct {
	pass                           [directions]passCost
	params                         work.Params
	saved, input, dropped, working unit.Bytes
}

// price turns one layer's operations into passes.
func (e *Evaluator) price(p *plan.Plan, l *work.Layer) layerCost {
	mach := e.mach
	c := layerCost{params: l.Params, saved: l.Saved, input: l.Input, dropped: l.Dropped, working: l.Working}
	var tp, cp, core [directions]unit.Seconds
	sustained := unit.Seconds(mach.Sustained())
	for i := range l.Ops {
		op := &l.Ops[i]
		d := directionOf[op.Phase]
		q := &c.pass[d]
		if op.Kind != work.Collective {
			x := mach.Op(op)
			q.floor += x.Floor
			q.kernels += x.Estimate / sustained
			q.upper += x.Upper / sustained
			q.sol.Compute += x.Compute
			q.sol.HBM += x.HBM
			q.flops += op.FLOPs
			if op.Kind == work.Attention {
				core[d] += x.Estimate / sustained
			}
			continue
		}
		x := mach.Collective(&op.Comm)
		n := unit.Seconds(max(op.Count, 1))
		q.sol.NVLink += n * x.ScaleUp
		q.sol.Network += n * x.Network
		q.serial += n * x.Upper
		q.latency += n * x.Latency
		switch op.Comm.Axis {
		case work.AxisTP:
			tp[d] += n * x.Estimate
		case work.AxisCP:
			cp[d] += n * x.Estimate
		default:
			q.exchange += n * x.Estimate
		}
	}
	for d := range c.pass {
		q := &c.pass[d]
		q.waits[work.AxisTP] = tpWait(p, e.pipelinesTP(p), tp[d], q.kernels-core[d])
		q.waits[work.AxisCP] = cpWait(p, cp[d], core[d])
		q.hidden = tp[d] + cp[d] - q.waits[work.AxisTP] - q.waits[work.AxisCP]
	}
	if l.Params.Expert > 0 {
		c.pass[forward].launch(mach.ExpertWait())
		c.pass[backward].launch(mach.ExpertWait())
		if p.Recompute.Has(plan.ReMoE) {
			c.pass[backward].launch(mach.ExpertWait())
		}
	}
	return c
}

// tpWait is what stays visible of tensor-parallel collectives. Pipelined with
// their products in tp chunks, all but the first chunk can hide behind the
// kernels outside attention.
func tpWait(p *plan.Plan, piped bool, comm, kernels unit.Seconds) unit.Seconds {
	if !piped {
		return comm
	}
	return comm - min(comm*unit.Seconds(p.TP-1)/unit.Seconds(p.TP), kernels)
}

// pipelinesTP tells whether tensor-parallel collectives run beside their
// products. Where micro-batches pair up to hide the expert exchange, its kernels
// already hold the links and the multiprocessors that pipelining would need.
// Across nodes nothing pipelines them: the engines' fused kernels need a
// scale-up link.
func (e *Evaluator) pipelinesTP(p *plan.Plan) bool {
	paired := p.EP > 1 && (p.Schedule == sched.DualPipe || p.Schedule == sched.DualPipeV)
	return p.TP > 1 && p.Overlap.TP && !paired && p.TP <= e.job.NodeGPUs
}

// cpWait is what stays visible of context parallelism: the ring hides behind the
// attention of the block in hand, all but the first of cp blocks; the
// all-to-all precedes attention and hides behind nothing.
func cpWait(p *plan.Plan, comm, core unit.Seconds) unit.Seconds {
	if p.CPAllToAll || p.CP == 1 {
		return comm
	}
	return comm - min(comm, core*unit.Seconds(p.CP-1)/unit.Seconds(p.CP))
}
