package deploy

import "testing"

// A deployment priced again without a change is itself, in one role and in two, with the
// limits of the question: tokens per step and sequences.
func TestAgainIsTheAnswer(t *testing.T) {
	for _, fixed := range []string{"tp=1,dp=8,ep=8", "prefill:tp=1,dp=8,ep=8,workers=1;decode:tp=1,dp=8,ep=8,workers=1"} {
		for _, twoBatch := range []bool{false, true} {
			q, v := ask(t, "deepseek-r1", "h200x16", fixed, 4096, 512, 128)
			q.Chunk, q.Slots, v.TwoBatch = 16384, 64, twoBatch
			o := search(t, q, v)
			b := o.Best
			again, err := q.Again(v, b, nil)
			if err != nil {
				t.Fatal(err)
			}
			if again.TTFT != b.TTFT || again.TPOT != b.TPOT || again.Wire != b.Wire || again.String() != b.String() || b.Chunk != 16384 || b.Slots != 64 {
				t.Errorf("%s: %s takes %g and %g s, priced again %s takes %g and %g s", fixed, b, b.TTFT, b.TPOT, again, again.TTFT, again.TPOT)
			}
			q.Chunk = 0
			if free := search(t, q, v).Best; free.TTFT == b.TTFT {
				t.Errorf("%s: 16,384 tokens a step change nothing", fixed)
			}
		}
	}
}
