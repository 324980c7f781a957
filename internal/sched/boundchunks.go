package sched

import "github.com/ridgeline/ridgeline/internal/unit"

// path sums what lies between chunk i and chunk n - 1 and back to chunk j: the
// forwards of i..n-1, the backwards of j+1..n-1 and the delays between.
func (s *Spec) path(i, j int, split bool) unit.Seconds {
	var t unit.Seconds
	n := len(s.Times.F)
	for c := i; c < n; c++ {
		t += s.Times.F[c]
		if c > i {
			t += s.comm(c - 1)
		}
	}
	for c := n - 1; c > j; c-- {
		t += s.Times.B[c] + s.comm(c-1)
		if !split {
			t += s.Times.W[c]
		}
	}
	return t
}

// interleavedBound takes for every rank its whole work, the wait before its
// first backward and the wait after its last forward.
func interleavedBound(s *Spec) unit.Seconds {
	var bound, head, tail unit.Seconds
	p, m, v, t := s.Stages, s.MicroBatches, s.VPP, &s.Times
	top := (v - 1) * p                            // chunk of the rank's first backward and last forward
	down := s.path(0, top, false)                 // first forward to the first backward
	up := s.path(top, 0, false) + t.B[0] + t.W[0] // last forward to the end of the last backward
	for r := range p {
		warm := min(2*(p-r-1)+(v-1)*p, m*v)
		before := min(warm+1, m*v) // forwards before the first backward, backwards after the last forward
		work, fb, bb := s.localWork(r, before)
		f := t.F[top]
		x := max(max(down, fb)+bb, fb-f+up)
		if before < m*v {
			x = max(down, fb) + (work - fb - f - bb) + max(up, f+bb)
		}
		bound = max(bound, head+x+tail)
		if r+1 == p {
			break
		}
		d, back := s.comm(r), t.B[r]+t.W[r]
		head += t.F[r] + d
		tail += back + d
		down -= t.F[r] + d + t.B[top+1] + t.W[top+1] + s.comm(top)
		up -= f + s.comm(top) + back + d
		top++
	}
	return bound
}

// localWork is, for one rank of the interleaved order, all its work, that of its
// first n forwards, and that of its last n backwards.
func (s *Spec) localWork(rank, n int) (work, forwards, backwards unit.Seconds) {
	p, m, v, t := s.Stages, s.MicroBatches, s.VPP, &s.Times
	for l := range v {
		c := l*p + rank
		full := t.B[c] + t.W[c]
		work += unit.Seconds(m) * (t.F[c] + full)
		forwards += unit.Seconds(countLocal(n, p, v, l)) * t.F[c]
		backwards += unit.Seconds(m-countLocal(m*v-n, p, v, v-1-l)) * full
	}
	return work, forwards, backwards
}

// countLocal is how many of the first k passes of the interleaved order are of
// the local-th chunk in its direction.
func countLocal(k, p, v, local int) int {
	return k/(p*v)*p + min(max(k%(p*v)-local*p, 0), p)
}

// zbvBound takes for every rank the wait before its first backward.
func zbvBound(s *Spec) unit.Seconds {
	var bound, head, tail unit.Seconds
	p, m := s.Stages, unit.Seconds(s.MicroBatches)
	t := &s.Times
	for r := range p {
		down, up := r, 2*p-1-r
		first := unit.Seconds(min(s.MicroBatches, 2*p-1-r))*t.F[down] + unit.Seconds(min(s.MicroBatches, r+1))*t.F[up]
		wait := max(0, s.path(down, up, true)-first)
		fb := m * (t.F[down] + t.F[up] + t.B[down] + t.B[up])
		bound = max(bound, wait+fb+m*(t.W[down]+t.W[up]))
		y := wait + fb
		if s.MicroBatches >= 2*p-1 { // r + 1 W of chunk 0 and r of chunk 1 come after the last B
			y += (m-unit.Seconds(r+1))*t.W[down] + (m-unit.Seconds(r))*t.W[up]
		}
		bound = max(bound, head+y+tail+t.W[0])
		if r+1 < p {
			head += t.F[r] + s.comm(r)
			tail += t.B[r] + s.comm(r)
		}
	}
	return bound
}

// dualBound takes for every rank of DualPipeV, or every pair of mirrored ranks
// of DualPipe, the wait before its first backward and the way out of its last.
func dualBound(s *Spec) unit.Seconds {
	var bound, head, tail unit.Seconds
	t, n, m := &s.Times, len(s.Times.F), s.MicroBatches
	if s.Kind == DualPipe {
		m /= 2
	}
	for o := range n / 2 {
		a, z := o, n-1-o // chunks of the stream that reaches the rank first, and second
		in := n/2 - o - 1
		n0, n1 := m-n+o+1, m-n+o+1+in // pairs with the forward of a, of z
		f0, f1 := 2*in+o+1, o+1       // forwards before the first backward
		if in == 0 {
			n0--
			f0++
		}
		work := unit.Seconds(n0)*s.pair(a, z) + unit.Seconds(m-n0)*(t.F[a]+t.B[z]+t.W[z]) +
			unit.Seconds(n1)*s.pair(z, a) + unit.Seconds(m-n1)*(t.F[z]+t.B[a]+t.W[a])
		first := unit.Seconds(f0)*t.F[a] + unit.Seconds(f1)*t.F[z]
		x := max(s.path(0, z, true), head+first) + work - first
		late := unit.Seconds(o+1) * max(t.W[a], t.W[z])
		bound = max(bound, x, x-late+tail+t.W[0])
		head += t.F[o] + s.comm(o)
		tail += t.B[o] + s.comm(o)
	}
	return bound
}
