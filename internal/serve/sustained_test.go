package serve

import (
	"testing"

	"github.com/ridgeline/ridgeline/internal/infer"
)

// No run gives more than the capacity that is stated beside it.
func TestSustained(t *testing.T) {
	c := infer.Capacity{Clients: 25, Concurrency: 20, Requests: 1.05, Output: 384}
	over := &Result{Overload: "grew", Whole: Summary{RequestRate: 1.4, OutputRate: 470}, Steady: &Summary{RequestRate: 1.23, OutputRate: 428}}
	if got := Sustained(c, over); got.Requests != 1.4 || got.Output != 470 || got.Clients != c.Clients {
		t.Errorf("under overload %+v", got)
	}
	below := &Result{Whole: Summary{RequestRate: 0.8, OutputRate: 300}, Steady: &Summary{RequestRate: 0.9, OutputRate: 330}}
	if got := Sustained(c, below); got != c {
		t.Errorf("below %+v", got)
	}
}
