package sched

import (
	"math"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// TestValidate: every bad input is one line that names the input.
func TestValidate(t *testing.T) {
	good := func(change func(*Spec)) *Spec {
		s := Uniform(OneFOneB, 4, 8, 1, 1, 1, 1, 0.1, 0)
		change(s)
		return s
	}
	for _, c := range []struct {
		spec *Spec
		want string
	}{
		{Uniform(OneFOneB, 0, 8, 1, 1, 1, 1, 0, 0), "0 stages"},
		{Uniform(OneFOneB, -3, 8, 1, 1, 1, 1, 0, 0), "-3 stages"},
		{Uniform(OneFOneB, 4, 0, 1, 1, 1, 1, 0, 0), "0 micro-batches"},
		{Uniform(OneFOneB, 4, 8, 0, 1, 1, 1, 0, 0), "vpp 0"},
		{Uniform(OneFOneB, 4, 8, 2, 1, 1, 1, 0, 0), "1f1b with vpp 2"},
		{Uniform(ZBV, 4, 8, 3, 1, 1, 1, 0, 0), "zb-v with vpp 3"},
		{Uniform(Interleaved, 4, 8, 1, 1, 1, 1, 0, 0), "interleaved with vpp 1"},
		{Uniform(Interleaved, 4, 8, 1000, 1, 1, 1, 0, 0), "vpp 1000"},
		{Uniform(Interleaved, 4, 9, 2, 1, 1, 1, 0, 0), "multiple of the stages"},
		{Uniform(DualPipe, 3, 12, 1, 1, 1, 1, 0, 0), "even number"},
		{Uniform(DualPipe, 4, 9, 1, 1, 1, 1, 0, 0), "even number"},
		{Uniform(DualPipe, 4, 6, 1, 1, 1, 1, 0, 0), "at least 8"},
		{Uniform(DualPipeV, 4, 7, 1, 1, 1, 1, 0, 0), "at least 8"},
		{Uniform(OneFOneB, 1<<40, 1<<40, 1, 1, 1, 1, 0, 0), "too many passes"},
		{Uniform(NumKinds, 4, 8, 1, 1, 1, 1, 0, 0), "schedule 10 is unknown"},
		{Uniform(OneFOneB, 4, 8, 1, -1, 1, 1, 0, 0), "forward time of chunk 0 is -1 s"},
		{Uniform(OneFOneB, 4, 8, 1, 1, unit.Seconds(math.NaN()), 1, 0, 0), "input-gradient time"},
		{Uniform(OneFOneB, 4, 8, 1, 1, 1, unit.Seconds(math.Inf(1)), 0, 0), "weight-gradient time"},
		{Uniform(OneFOneB, 4, 8, 1, 1, 1, 1, -1, 0), "communication time"},
		{Uniform(DualPipe, 4, 8, 1, 1, 1, 1, 0, -2), "overlapped pass"},
		{good(func(s *Spec) { s.Times.W = s.Times.W[1:] }), "3 weight-gradient times: this schedule needs 4"},
		{good(func(s *Spec) { s.Times.Comm = s.Times.F }), "4 communication times: this schedule needs 3"},
		{good(func(s *Spec) { s.WeightShare = 1.5 }), "weight share 1.5"},
	} {
		_, err := Lay(c.spec)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line with %q", err, c.want)
		}
		if _, again := Makespan(c.spec); again == nil || again.Error() != err.Error() {
			t.Errorf("Makespan says %v, Lay %v", again, err)
		}
	}
}

// TestZeroTimes: no time at all is legal and takes none.
func TestZeroTimes(t *testing.T) {
	for k := range NumKinds {
		s := benchmarkSpec(k, 4, 8)
		for _, x := range [][]unit.Seconds{s.Times.F, s.Times.B, s.Times.W, s.Times.Comm} {
			clear(x)
		}
		l, err := Lay(s)
		if err != nil || l.Step != 0 || l.BubbleRate() != 0 {
			t.Fatalf("%s: %+v, %v", k, l, err)
		}
		if rows := strings.Count(Letters(l, 80), "\n"); rows < 6 {
			t.Errorf("%s: drawing of %d rows", k, rows)
		}
	}
}

func TestParseKind(t *testing.T) {
	for k := range NumKinds {
		if got, ok := ParseKind(k.String()); !ok || got != k {
			t.Errorf("%s is read as %s", k, got)
		}
	}
	if _, ok := ParseKind("1F1B"); ok {
		t.Error("names are lower case")
	}
}

// TestPlacement: ChunkAt is the inverse of RankOf, and every chunk has a place.
func TestPlacement(t *testing.T) {
	for k := range NumKinds {
		p, v := 4, 1
		if k == Interleaved {
			v = 3
		}
		held := make([]int, k.Chunks(p, v))
		for r := range p {
			for l := range k.LocalChunks(v) {
				c := k.ChunkAt(r, l, p)
				held[c]++
				if a, b := k.RankOf(c, p, v); a != r && b != r {
					t.Errorf("%s: rank %d holds chunk %d, which lives on %d and %d", k, r, c, a, b)
				}
			}
		}
		for c, n := range held {
			if n != k.ParamCopies() {
				t.Errorf("%s: chunk %d is held %d times, want %d", k, c, n, k.ParamCopies())
			}
		}
	}
}
