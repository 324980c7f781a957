package sched

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPeakActivations: micro-batches held per rank, p = 4 and m = 16, equal
// stages; the property test compares InFlight with the simulated peak of many more.
func TestPeakActivations(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		vpp  int
		want []float64
		why  string
	}{
		{GPipe, 1, []float64{16, 16, 16, 16}, "all forwards come first"},
		{OneFOneB, 1, []float64{4, 3, 2, 1}, "p - rank, arXiv:2104.04473"},
		{Interleaved, 2, []float64{5.5, 4.5, 3.5, 2.5}, "p (1 + (p-1)/(pv)) on rank 0, arXiv:2205.05198 section 4.2.3"},
		{ZBH1, 1, []float64{4, 4, 4, 4}, "at most p, arXiv:2401.10241 section 2.1"},
		{ZBH2, 1, []float64{7, 7, 7, 7}, "at most 2p - 1, arXiv:2401.10241 section 2.2"},
		{ZBV, 1, []float64{4, 4, 4, 4}, "p, arXiv:2405.15362"},
		{DualPipe, 1, []float64{5, 5, 5, 5}, "p + 1, arXiv:2412.19437 table 2"},
		{DualPipeV, 1, []float64{4.5, 4.5, 4.5, 4.5}, "2p + 1 halves, DualPipe repository"},
	} {
		s := Uniform(c.kind, 4, 16, c.vpp, 1, 1, 1, 0, 0)
		s.WeightShare = 1
		l, err := Lay(s)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, l.PeakActivations); d != "" {
			t.Errorf("%s (%s): %s", c.kind, c.why, d)
		}
	}
}

// TestPeakChunks: V-shaped and DualPipe ranks hold more of the chunk that
// micro-batches enter first.
func TestPeakChunks(t *testing.T) {
	l, err := Lay(Uniform(DualPipe, 4, 16, 1, 1, 1, 1, 0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([][]int{{4, 1}, {3, 2}, {2, 3}, {1, 4}}, l.PeakChunks); d != "" {
		t.Error(d)
	}
}
