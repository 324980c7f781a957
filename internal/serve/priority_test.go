package serve

import (
	"testing"

	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// Which priority goes first is the engine's: larger ones in SGLang and TensorRT-LLM,
// smaller ones in vLLM.
func TestWhichPriorityGoesFirst(t *testing.T) {
	one := plan.Serving{TP: 1, PP: 1, DP: 1, EP: 1, DCP: 1, Replicas: 1}
	for name, first := range map[string]int{"vllm": 1, "sglang": 2, "trtllm": 2} {
		s := service(t, real(t, "llama-3.1-8b", "h100x1", one, name))
		s.Engine.Priority, s.Engine.MaxSeqs, s.Engine.Entry = true, 1, 0
		w := &workload.Workload{Requests: []workload.Request{{Input: 64, Output: 4}, {At: 1, Input: 64, Output: 4, Priority: -1}, {At: 2, Input: 64, Output: 4, Priority: 5}}}
		r := run(t, s, w, Options{})
		if then := 3 - first; r.Records[first].Started >= r.Records[then].Started {
			t.Errorf("%s: request %d of priority %d starts at %v, %d of %d at %v", name, first, w.Requests[first].Priority, r.Records[first].Started,
				then, w.Requests[then].Priority, r.Records[then].Started)
		}
	}
}
