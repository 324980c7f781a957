package cost_test

import (
	"testing"

	"github.com/ridgeline/ridgeline/internal/work"
)

// The rank that uneven experts fill sets the time of an exchange: by so much in the
// low-latency kernels, which send every copy; of the others a token goes there once.
func TestFullestRankSetsTheExchange(t *testing.T) {
	m := machine(t, "h800x32", "vllm")
	for _, low := range []bool{true, false} {
		c := work.Comm{Kind: work.Dispatch, Axis: work.AxisEP, Size: 32, Stride: 1, Bytes: 128 * 7168, TopK: 8, Experts: 256, LowLatency: low}
		even := m.Collective(&c)
		c.Fullest = 1
		if one := m.Collective(&c); one != even {
			t.Errorf("low latency %t: fullest 1 takes %v, even %v", low, one.Estimate, even.Estimate)
		}
		last := even
		for _, c.Fullest = range []float64{1.1, 2.5, 8.5, 32} {
			x := m.Collective(&c)
			if x.Floor <= last.Floor || x.Estimate < last.Estimate || x.Floor > x.Estimate || x.Estimate > x.Upper {
				t.Errorf("low latency %t, fullest %g: %v %v %v after %v", low, c.Fullest, x.Floor, x.Estimate, x.Upper, last.Floor)
			}
			if ratio := float64(x.Floor / even.Floor); low != (ratio > 0.999*c.Fullest) || ratio > 1.001*c.Fullest {
				t.Errorf("low latency %t, fullest %g: %.3f times the even floor", low, c.Fullest, ratio)
			}
			last = x
		}
	}
}
