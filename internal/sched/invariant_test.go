package sched

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ridgeline/ridgeline/internal/unit"
)

type passKey struct {
	pass      Pass
	chunk, mb int
}

// checkInvariants lays out s and says what no layout may break: every pass once
// and on a rank that holds its chunk, passes of a rank apart and in order, inputs
// there before a pass starts, work conserved, limits kept, step as defined.
func checkInvariants(s *Spec) error {
	l, err := Lay(s)
	if err != nil {
		return err
	}
	start, end := map[passKey]unit.Seconds{}, map[passKey]unit.Seconds{}
	add := func(x Placed, pass Pass, chunk, mb int) error {
		k := passKey{pass, chunk, mb}
		if _, twice := start[k]; twice {
			return fmt.Errorf("%v runs twice", k)
		}
		start[k], end[k] = x.Start, x.End
		return nil
	}
	var busy unit.Seconds
	for r, list := range l.Ranks {
		var free unit.Seconds
		for _, x := range list {
			if x.Start < free || x.End < x.Start {
				return fmt.Errorf("rank %d: %+v starts before %g", r, x, float64(free))
			}
			free = x.End
			busy += x.End - x.Start
			if a, b := s.Kind.RankOf(x.Chunk, s.Stages, s.VPP); a != r && b != r {
				return fmt.Errorf("rank %d runs chunk %d of ranks %d and %d", r, x.Chunk, a, b)
			}
			errs := []error{}
			switch x.Pass {
			case FB:
				errs = append(errs, add(x, F, x.Chunk, x.MicroBatch), add(x, B, x.BackChunk, x.BackMicroBatch), add(x, W, x.BackChunk, x.BackMicroBatch))
			case B:
				errs = append(errs, add(x, B, x.Chunk, x.MicroBatch))
				if x.Full {
					errs = append(errs, add(x, W, x.Chunk, x.MicroBatch))
				}
			default:
				errs = append(errs, add(x, x.Pass, x.Chunk, x.MicroBatch))
			}
			for _, err := range errs {
				if err != nil {
					return err
				}
			}
		}
	}
	n := len(s.Times.F)
	if len(start) != 3*n*s.MicroBatches {
		return fmt.Errorf("%d passes of %d", len(start), 3*n*s.MicroBatches)
	}
	return firstOf(checkInputs(s, start, end), checkTotals(s, l, busy), checkPeaks(s, l))
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func checkInputs(s *Spec, start, end map[passKey]unit.Seconds) error {
	n := len(s.Times.F)
	for c := range n {
		for mb := range s.MicroBatches {
			if c > 0 && start[passKey{F, c, mb}] < end[passKey{F, c - 1, mb}]+s.comm(c-1) {
				return fmt.Errorf("F of chunk %d, micro-batch %d starts before its input", c, mb)
			}
			if c+1 < n && start[passKey{B, c, mb}] < end[passKey{B, c + 1, mb}]+s.comm(c) {
				return fmt.Errorf("B of chunk %d, micro-batch %d starts before its input", c, mb)
			}
			if start[passKey{B, c, mb}] < end[passKey{F, c, mb}] || start[passKey{W, c, mb}] < start[passKey{B, c, mb}] {
				return fmt.Errorf("chunk %d, micro-batch %d goes backward before forward", c, mb)
			}
		}
	}
	return nil
}

func checkTotals(s *Spec, l *Layout, busy unit.Seconds) error {
	near := func(a, b unit.Seconds) bool { return max(a-b, b-a) <= 1e-9*(1+l.End) }
	if s.Times.Pair == nil && !near(busy, l.work) {
		return fmt.Errorf("%g s of passes, work is %g s", float64(busy), float64(l.work))
	}
	var last, longest unit.Seconds
	for r, list := range l.Ranks {
		last = max(last, list[len(list)-1].End)
		longest = max(longest, list[len(list)-1].End-list[0].Start)
		if l.Idle(r) < -1e-9*(1+l.Step) {
			return fmt.Errorf("rank %d idles %g s", r, float64(l.Idle(r)))
		}
	}
	want := last
	if s.Kind.staggered() {
		want = longest
	}
	if l.End != last || l.Step != want {
		return fmt.Errorf("step %g and end %g, want %g and %g", float64(l.Step), float64(l.End), float64(want), float64(last))
	}
	quick, err := Makespan(s)
	if err != nil || quick != l.Step {
		return fmt.Errorf("Makespan %g, Lay %g, %v", float64(quick), float64(l.Step), err)
	}
	if b := LowerBound(s); b > l.Step {
		return fmt.Errorf("bound %g above the step %g", float64(b), float64(l.Step))
	}
	return nil
}

func checkPeaks(s *Spec, l *Layout) error {
	for r := range l.Ranks {
		n, want := l.PeakInFlight[r], InFlight(s.Kind, s.Stages, s.MicroBatches, s.VPP, r)
		exact := !s.Kind.auto() && (s.Kind != ZBV || s.MicroBatches >= 2*s.Stages-1)
		if exact && n != want || n > want && (!s.Kind.auto() || s.share() == 1) {
			return fmt.Errorf("rank %d holds %d chunks, closed form says %d", r, n, want)
		}
		if s.Kind.auto() && l.PeakActivations[r] > float64(s.Kind.limit(s.Stages))+1e-6 {
			return fmt.Errorf("rank %d holds %g micro-batches, more than the limit", r, l.PeakActivations[r])
		}
		for _, x := range l.PeakChunks[r] {
			n -= x
		}
		if n != 0 {
			return fmt.Errorf("rank %d: chunks %v do not add up to %d", r, l.PeakChunks[r], l.PeakInFlight[r])
		}
	}
	return nil
}

func TestInvariants(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		s := randomSpec(rng)
		if err := checkInvariants(s); err != nil {
			t.Fatalf("%s p=%d m=%d vpp=%d: %v", s.Kind, s.Stages, s.MicroBatches, s.VPP, err)
		}
	}
}

func FuzzLay(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Add(uint64(7), uint64(0))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		s := randomSpec(rand.New(rand.NewPCG(a, b)))
		if err := checkInvariants(s); err != nil {
			t.Fatalf("%s p=%d m=%d vpp=%d: %v", s.Kind, s.Stages, s.MicroBatches, s.VPP, err)
		}
	})
}

// TestSlowerNeverFaster holds the order fixed and makes one time longer.
func TestSlowerNeverFaster(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		s := randomSpec(rng)
		if s.Kind.auto() {
			continue // its order changes with the times
		}
		before, _ := Lay(s)
		all := [][]unit.Seconds{s.Times.F, s.Times.B, s.Times.W}
		if len(s.Times.Comm) > 0 {
			all = append(all, s.Times.Comm)
		}
		x := all[rng.IntN(len(all))]
		x[rng.IntN(len(x))] += unit.Seconds(rng.Float64())
		after, _ := Lay(s)
		if after.End < before.End*(1-1e-12) {
			t.Fatalf("%s p=%d m=%d: step falls from %g to %g", s.Kind, s.Stages, s.MicroBatches, float64(before.End), float64(after.End))
		}
	}
}

// TestAutomaticBeatsHandcrafted: zb-1p keeps the memory of zb-h1 and zb-2p that
// of zb-h2 and one micro-batch more, so neither may be slower.
func TestAutomaticBeatsHandcrafted(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		s := randomSpec(rng)
		if !s.Kind.auto() {
			continue
		}
		a, err := Makespan(s)
		if err != nil {
			t.Fatal(err)
		}
		h := *s
		h.Kind = ZBH1 + s.Kind - ZB1P
		b, err := Makespan(&h)
		if err != nil || a > b*(1+1e-12) {
			t.Fatalf("%s p=%d m=%d: %g s, handcrafted %g s, %v", s.Kind, s.Stages, s.MicroBatches, float64(a), float64(b), err)
		}
	}
}
