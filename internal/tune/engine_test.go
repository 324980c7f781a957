package tune

import (
	"testing"

	"github.com/ridgeline/ridgeline/internal/hw"
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
