package cost

import (
	"testing"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// A product below the ridge is never called compute-bound, one above it never bound
// by memory, whatever tiles it is cut into.
func TestBoundAgreesWithIntensity(t *testing.T) {
	m := mustNew(t, h800(8))
	for rows := int64(1); rows <= 1<<14; rows *= 4 {
		for _, shape := range [][2]int64{{576, 7168}, {7168, 2048}, {256, 7168}, {129280, 7168}, {16384, 16384}} {
			op := gemm(unit.BF16, rows, shape[0], shape[1])
			p, work := m.Op(&op), float64(op.FLOPs)/float64(op.Bytes)
			ridge := float64(m.MatrixRate(unit.BF16)) / float64(m.HBMRate())
			if p.Bound == Compute && work < ridge || p.Bound == HBM && work > ridge {
				t.Errorf("%d x %d x %d: %.0f FLOP/B beside a ridge of %.0f, bound by %s", rows, shape[0], shape[1], work, ridge, p.Bound)
			}
		}
	}
}
