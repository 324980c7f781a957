package infer_test

import (
	"math"
	"testing"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// The stages of a pipeline read a prompt in pieces: together they attend to all its keys and
// expand its latents once, as one stage does that reads it whole, whether the prompt comes
// alone or in parts with others.
func TestPipelinedPromptsKeepTheirWork(t *testing.T) {
	for _, model := range []string{"llama-3.1-70b", "deepseek-r1"} {
		one := mustEngine(t, model, "h200x32", plan.Serving{TP: 8, PP: 1}, nil)
		four := mustEngine(t, model, "h200x32", plan.Serving{TP: 8, PP: 4}, nil)
		for what, b := range map[string]infer.Batch{
			"a whole prompt":    {Prefill: 16384, Prompts: 1, PrefillPairs: 16384 * 16385 / 2},
			"its second half":   {Prefill: 8192, Prompts: 1, PrefillPairs: 8192*8192 + 8192*8193/2},
			"parts of two":      {Prefill: 16384, Prompts: 2, PrefillPairs: 8192*8192 + 8192*8193},
			"four short chunks": {Prefill: 16384, Prompts: 4, PrefillPairs: 4 * 4096 * 4097 / 2},
		} {
			whole, piece := one.Step(&b), four.Step(&b)
			if ratio := 4 * float64(piece.Compute/whole.Compute); math.Abs(ratio-1) > 1e-3 {
				t.Errorf("%s, %s: four stages compute %.4f of what one does", model, what, ratio)
			}
		}
	}
}
