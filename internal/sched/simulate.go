package sched

import (
	"fmt"
	"math"
	"sync"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// slotTime is what a slot costs: a delay after the op it waits for, then a
// length on its rank.
type slotTime struct {
	delay, length unit.Seconds
	rank          int32
}

// simulator is the working memory of one run; reused, so that a search that
// prices millions of pipelines allocates nothing.
type simulator struct {
	slots []slotTime
	end   []unit.Seconds // per op
	free  []unit.Seconds // per rank: end of its last op so far
}

var simulators = sync.Pool{New: func() any { return new(simulator) }}

func grow[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}

// price fills the slots from the times of s.
func (m *simulator) price(s *Spec) error {
	k, last := s.Kind, s.Kind.Chunks(s.Stages, s.VPP)-1
	locals := k.LocalChunks(s.VPP)
	pairs := k == DualPipe || k == DualPipeV
	m.slots = grow(m.slots, s.Stages*locals*numDo)
	for r := range s.Stages {
		for l := range locals {
			c := k.ChunkAt(r, l, s.Stages)
			var in, back unit.Seconds // delays of the forward's and the backward's input
			if c > 0 {
				in = s.comm(c - 1)
			}
			if c < last {
				back = s.comm(c)
			}
			f, b, w := s.Times.F[c], s.Times.B[c], s.Times.W[c]
			t := m.slots[slotOf(r, locals, l, 0):][:numDo]
			t[doF] = slotTime{in, f, int32(r)}
			t[doB] = slotTime{back, b, int32(r)}
			t[doW] = slotTime{0, w, int32(r)}
			t[doFull] = slotTime{back, b + w, int32(r)}
			t[doGate] = slotTime{back, 0, int32(r)}
			if pairs {
				both := s.pair(c, k.ChunkAt(r, 1-l, s.Stages))
				if !(both >= 0 && both <= maxSeconds) {
					return fmt.Errorf("overlapped pass of chunks %d and %d takes %g s: give a time from 0 to %g s",
						c, k.ChunkAt(r, 1-l, s.Stages), float64(both), float64(maxSeconds))
				}
				t[doPair] = slotTime{in, both, int32(r)}
			}
		}
	}
	return nil
}

// run lays out a program: an op starts when its rank is free and its input has
// arrived. It fills end and free.
func (m *simulator) run(p *program) {
	m.end = grow(m.end, len(p.ops))
	m.free = grow(m.free, p.ranks)
	clear(m.free)
	end, free, slots := m.end, m.free, m.slots
	end[0] = unit.Seconds(math.Inf(-1))
	for i, o := range p.ops[1:] {
		t := &slots[o.slot]
		e := max(free[t.rank], end[o.dep]+t.delay) + t.length
		end[i+1] = e
		free[t.rank] = e
	}
}

// start is when an op that is the first of its rank began.
func (m *simulator) firstStart(p *program, rank int) unit.Seconds {
	o := p.ops[p.first[rank]]
	return max(0, m.end[o.dep]+m.slots[o.slot].delay)
}

// step is the time from one step to the next. Ranks of staggered kinds begin the
// next step without waiting for each other, so the one busy longest from its
// first start to its last end sets the pace; otherwise all wait for the last.
func (m *simulator) step(p *program, staggered bool) unit.Seconds {
	var step unit.Seconds
	for r, e := range m.free {
		if staggered {
			e -= m.firstStart(p, r)
		}
		step = max(step, e)
	}
	return step
}

// Makespan is Lay's Step without the passes: the hot path of a search. A fixed
// kind costs one sweep over its passes and allocates nothing once its shape has
// been seen; zb-1p and zb-2p run their scheduler.
func Makespan(s *Spec) (unit.Seconds, error) {
	if err := s.Validate(); err != nil {
		return 0, err
	}
	m := simulators.Get().(*simulator)
	defer simulators.Put(m)
	if err := m.price(s); err != nil {
		return 0, err
	}
	p, _, err := programOf(s)
	if err != nil {
		return 0, err
	}
	m.run(p)
	return m.step(p, s.Kind.staggered()), nil
}

// programOf compiles any kind; lists are nil for a fixed one.
func programOf(s *Spec) (*program, [][]item, error) {
	if !s.Kind.auto() {
		p, err := fixed(s)
		return p, nil, err
	}
	l := automatic(s)
	p, err := compile(s, l)
	return p, l, err
}
