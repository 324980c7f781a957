package train

import (
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// Ceilings are the seconds that each resource would need alone at its achieved
// rate: the speed of light of a part of the step, per GPU.
type Ceilings struct {
	Compute, HBM, NVLink, Network unit.Seconds
}

func (c *Ceilings) add(d *Ceilings, n unit.Seconds) {
	c.Compute += n * d.Compute
	c.HBM += n * d.HBM
	c.NVLink += n * d.NVLink
	c.Network += n * d.Network
}

// Max is the largest of the four: the step's floor under perfect overlap.
func (c *Ceilings) Max() unit.Seconds { return max(c.Compute, c.HBM, c.NVLink, c.Network) }

// traffic is collectives of data parallelism, priced.
type traffic struct {
	sol             Ceilings
	estimate, upper unit.Seconds
}

func (t *traffic) plus(u traffic) {
	t.sol.add(&u.sol, 1)
	t.estimate += u.estimate
	t.upper += u.upper
}

// collective prices one data-parallel collective over n ranks stride apart.
func (e *Evaluator) collective(kind work.CommKind, axis work.Axis, n, stride int, bytes float64) traffic {
	if n <= 1 || bytes == 0 {
		return traffic{}
	}
	x := e.mach.Collective(&work.Comm{Kind: kind, Axis: axis, Size: int64(n), Stride: int64(stride), Bytes: unit.Bytes(bytes)})
	return traffic{sol: Ceilings{NVLink: x.ScaleUp, Network: x.Network}, estimate: x.Estimate, upper: x.Upper}
}

// overStates prices one collective kind over a rank's parameters in format f:
// dense ones over their shards, experts over their replicas.
func (e *Evaluator) overStates(p *plan.Plan, kind work.CommKind, dense, expert int64, f unit.Format) traffic {
	t := e.overReplicas(p, kind, work.AxisDP, p.Shards(), p.TP, float64(dense)*f.BytesPer())
	t.plus(e.overReplicas(p, kind, work.AxisEDP, p.ExpertShards(), p.ETP*p.EP, float64(expert)*f.BytesPer()))
	return t
}

// overReplicas is a collective over n replicas. Under DualPipe half of them lie
// in the mirrored stage: they meet over the network, each with the share that the
// replicas of its own stage left it.
func (e *Evaluator) overReplicas(p *plan.Plan, kind work.CommKind, axis work.Axis, n, stride int, bytes float64) traffic {
	copies := p.Schedule.ParamCopies()
	if p.ShardGroup > 0 || copies == 1 || n%copies != 0 {
		return e.collective(kind, axis, n, stride, bytes)
	}
	own := n / copies
	t := e.collective(kind, axis, own, stride, bytes)
	t.plus(e.collective(kind, axis, copies, e.apart(), bytes/float64(own)))
	return t
}

// apart is a stride that puts neighbours into different nodes where there are several.
func (e *Evaluator) apart() int {
	if e.job.GPUs > e.job.NodeGPUs {
		return e.job.NodeGPUs
	}
	return 1
}

// tied is the all-reduce of the embedding's gradient between the two ranks that
// hold it for a tied head.
func (e *Evaluator) tied(p *plan.Plan) traffic {
	m := e.job.Model
	bytes := float64(m.Vocab*m.Hidden/int64(p.TP)) * p.Precision.GradReduce.BytesPer()
	return e.collective(work.AllReduce, work.AxisPP, 2, e.apart(), bytes)
}

// acrossGroups is HSDP's all-reduce of gradient shards between shard groups.
func (e *Evaluator) acrossGroups(p *plan.Plan, w work.Params) traffic {
	if p.ShardGroup == 0 {
		return traffic{}
	}
	groups := p.Replicas() / p.ShardGroup
	grads := float64(w.TrainedDense) * p.Precision.GradReduce.BytesPer() / float64(p.ShardGroup)
	t := e.collective(work.AllReduce, work.AxisDP, groups, p.TP*p.ShardGroup, grads)
	experts := p.ExpertReplicas() / p.ExpertShards()
	egrads := float64(w.TrainedExpert) * p.Precision.GradReduce.BytesPer() / float64(p.ExpertShards())
	t.plus(e.collective(work.AllReduce, work.AxisEDP, experts, p.ETP*p.EP*p.ExpertShards(), egrads))
	return t
}

// shardLayers adds the collectives that ZeRO-2 and ZeRO-3 repeat for every
// micro-batch to a chunk's passes: gathers of the weights before forward and
// backward, scatters of the gradients after. The next layer's gather hides
// behind the kernels of the layer in hand.
func (e *Evaluator) shardLayers(p *plan.Plan, c *chunk) {
	all := c.params
	all.Add(c.ends, 1)
	pr := &p.Precision
	f, b, w := &c.pass[forward], &c.pass[backward], &c.pass[weight]
	if p.ZeRO >= 3 {
		gather := e.overStates(p, work.AllGather, all.Dense, all.Expert, pr.Gather)
		e.shard(p, f, gather)
		e.shard(p, b, gather)
		if pr.GEMM.Bits() < 16 { // the gathered weights are cast for every pass
			cast := unit.Bytes(float64(all.Dense+all.Expert) * (pr.Gather.BytesPer() + pr.GEMM.BytesPer())).Over(e.mach.HBMRate())
			f.stream(cast)
			b.stream(cast)
		}
	}
	e.shard(p, w, e.overStates(p, work.ReduceScatter, all.TrainedDense, all.TrainedExpert, pr.GradReduce))
}

// stream adds a memory-bound kernel.
func (p *passCost) stream(t unit.Seconds) {
	p.floor += t
	p.kernels += t
	p.upper += t
	p.sol.HBM += t
}

// shard adds one collective of the states to a pass; without overlap it waits in line.
func (e *Evaluator) shard(p *plan.Plan, q *passCost, t traffic) {
	if p.Overlap.DP {
		q.states += t.estimate
		q.taken = unit.Seconds(e.mach.CommSMShare())
	} else {
		q.waits[work.AxisDP] += t.estimate
	}
	q.serial += t.upper
	q.sol.add(&t.sol, 1)
}

// closing is what a rank does once per step beside the pipeline: reduce
// gradients, update, gather weights.
type closing struct {
	wait   unit.Seconds // data-parallel collectives left visible
	update unit.Seconds
	upper  unit.Seconds
	sol    Ceilings
}

// close prices a rank's end of step. Overlapped, the gradients of all layers but
// the last one reduced hide behind the last backward pass, the weights of all
// but the first one behind the first forward pass.
func (e *Evaluator) close(p *plan.Plan, w work.Params, layers int, first, last unit.Seconds) closing {
	var reduce, gather traffic
	pr := &p.Precision
	switch {
	case p.ZeRO == 0:
		reduce = e.overStates(p, work.AllReduce, w.TrainedDense, w.TrainedExpert, pr.GradReduce)
	case p.ZeRO == 1:
		reduce = e.overStates(p, work.ReduceScatter, w.TrainedDense, w.TrainedExpert, pr.GradReduce)
	}
	if p.ZeRO == 1 || p.ZeRO == 2 {
		gather = e.overStates(p, work.AllGather, w.TrainedDense, w.TrainedExpert, pr.Gather)
	}
	reduce.plus(e.acrossGroups(p, w))
	var c closing
	c.update = e.update(p, w)
	c.upper = reduce.upper + gather.upper + c.update
	c.sol.add(&reduce.sol, 1)
	c.sol.add(&gather.sol, 1)
	if !p.OffloadOptim {
		c.sol.HBM += c.update
	}
	c.wait = visible(p, reduce.estimate, last, layers) + visible(p, gather.estimate, first, layers)
	return c
}

// tie adds the exchange of a tied embedding's gradients, which nothing follows to hide behind.
func (c *closing) tie(t traffic) {
	c.wait += t.estimate
	c.upper += t.upper
	c.sol.add(&t.sol, 1)
}

func visible(p *plan.Plan, comm, cover unit.Seconds, layers int) unit.Seconds {
	if !p.Overlap.DP {
		return comm
	}
	return max(comm/unit.Seconds(max(layers, 1)), comm-cover)
}

// update is Adam's pass over a rank's own states: gradient read twice (norm,
// then update), master weight and both moments read and written, working copy
// written. Offloaded states cross the host link instead, gradient out and
// weight in, and the host's own arithmetic is assumed to keep up.
func (e *Evaluator) update(p *plan.Plan, w work.Params) unit.Seconds {
	dense, expert := 1.0, 1.0
	if p.ZeRO >= 1 {
		dense, expert = float64(p.Shards()), float64(p.ExpertShards())
	}
	own := float64(w.TrainedDense)/dense + float64(w.TrainedExpert)/expert
	pr := &p.Precision
	if p.OffloadOptim {
		bytes := own * (pr.Gradients.BytesPer() + pr.Weights.BytesPer())
		return unit.Seconds(bytes / e.cluster.Device.HostLink().Value)
	}
	bytes := own * (2*pr.Gradients.BytesPer() + 2*pr.Master.BytesPer() + 4*pr.Moment.BytesPer() + pr.Weights.BytesPer())
	if pr.GEMM.Bits() < 16 && p.ZeRO < 3 { // the low-precision copies of all resident weights are made anew
		bytes += float64(w.TrainedDense+w.TrainedExpert) * (pr.Gather.BytesPer() + pr.GEMM.BytesPer())
	}
	return unit.Bytes(bytes).Over(e.mach.HBMRate())
}
