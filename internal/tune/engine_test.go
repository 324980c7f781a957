package tune

import (
	"math"
	"testing"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/record"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Rates of narrow formats may pass that of FP32, and not by what no CPU has.
func TestRatesThatNoCPUHas(t *testing.T) {
	for rate, fits := range map[float64]bool{50e9: true, 300e9: true, 9e12: false} {
		d := &hw.Device{}
		d.Achieved.Matrix[unit.FP32] = hw.Figure{Value: 100e9, Grade: hw.Measured}
		d.Achieved.Matrix[unit.Q8_0] = hw.Figure{Value: rate, Grade: hw.Measured}
		if err := possible(d); (err == nil) != fits {
			t.Errorf("%g: %v", rate, err)
		}
	}
}

// The host's time is of a step and of each sequence in it; one disturbed step moves neither.
func TestHostOfStepsAndSequences(t *testing.T) {
	m := small(t, unit.Q8_0)
	var points []point
	for i, n := range []int{1, 2, 4, 8, 1, 2, 4, 8} {
		r := record.Result{What: "decode", Batch: n, HostSeconds: 1e-3 + float64(n)*2e-4}
		if i == 6 {
			r.HostSeconds *= 5
		}
		points = append(points, newPoint(m, &r))
	}
	f := &vectorFit{}
	f.host(points)
	if math.Abs(float64(f.step)/1e-3-1) > 1e-9 || math.Abs(float64(f.sequence)/2e-4-1) > 1e-9 {
		t.Errorf("%g s of a step, %g s of a sequence", float64(f.step), float64(f.sequence))
	}
	if f.host(points[:1]); math.Abs(float64(f.step)/1.2e-3-1) > 1e-9 || f.sequence != 0 { // nothing tells the two apart
		t.Errorf("of one step: %g s, %g s of a sequence", float64(f.step), float64(f.sequence))
	}
}
