package infer

import (
	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// sums adds up priced operations, in seconds.
type sums struct {
	parts                         [NumParts]float64 // estimates
	total, upper                  float64           // estimate is the sum of parts
	compute, hbm, nvlink, network float64           // ceilings, each resource alone
	pipes, memory                 float64           // see Step
	exchanges                     float64           // collectives that cross nodes
}

// add puts n times o into s.
func (s *sums) add(o *sums, n float64) {
	for i := range s.parts {
		s.parts[i] += n * o.parts[i]
	}
	s.total += n * o.total
	s.upper += n * o.upper
	s.compute += n * o.compute
	s.hbm += n * o.hbm
	s.nvlink += n * o.nvlink
	s.network += n * o.network
	s.pipes += n * o.pipes
	s.memory += n * o.memory
	s.exchanges += n * o.exchanges
}

// op prices one operation into s.
func (e *Engine) op(s *sums, op *work.Op) {
	if op.Kind == work.Collective {
		t := e.collective(op)
		n := float64(max(op.Count, 1))
		s.parts[Communication] += n * float64(t.Estimate)
		s.total += n * float64(t.Estimate)
		s.upper += n * float64(t.Upper)
		s.nvlink += n * float64(t.ScaleUp)
		s.network += n * float64(t.Network)
		if t.NetworkBytes > 0 {
			s.exchanges += n
		}
		return
	}
	p := e.kernel(op)
	s.parts[partOf(op.Part)] += float64(p.Estimate)
	s.total += float64(p.Estimate)
	s.upper += float64(p.Upper)
	s.compute += float64(p.Compute)
	s.hbm += float64(p.HBM)
	s.pipes += float64(p.Pipes)
	s.memory += float64(p.Memory)
}

// collective prices one collective of a step: the latency of an all-reduce inside a
// node holds the wait for the last rank.
func (e *Engine) collective(op *work.Op) cost.Transfer {
	t := e.machine.Collective(&op.Comm)
	if a := e.profile.Arrival; a > 0 && t.NetworkBytes == 0 && op.Comm.Kind == work.AllReduce {
		wait := unit.Seconds(a-1) * max(t.Estimate-t.ScaleUp, 0)
		t.Estimate += wait
		t.Upper = max(t.Upper+wait, t.Estimate)
		t.Floor = min(t.Floor, t.Estimate)
	}
	return t
}

// kernel prices one kernel among others: what neighbours hide of its start and of its
// operands' making ready is taken off, down to the floor, and its multiplications run
// at the clock of lasting load.
func (e *Engine) kernel(op *work.Op) cost.Price {
	p, f := e.machine.Op(op), e.profile
	if !e.setup.Eager { // else launches follow the host's pace
		hidden := unit.Seconds(1-f.Launch)*p.Start + unit.Seconds(1-f.Quantise)*p.Around
		p.Estimate = max(p.Floor, p.Estimate-hidden)
		p.Upper = max(p.Upper, p.Estimate)
	}
	slower := p.Compute * unit.Seconds(1/f.sustained()-1)
	p.Estimate += slower
	p.Upper += slower
	return p
}

// partOf maps the group of an operation to the part of the step.
func partOf(group string) Part {
	switch group {
	case model.RoleAttention.String():
		return Attention
	case model.RoleExpert.String(), model.RoleRouter.String():
		return Experts
	case model.RoleHead.String(), model.RoleEmbedding.String():
		return Head
	}
	return Dense
}
