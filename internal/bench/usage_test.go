package bench

import (
	"testing"
)

// A count of no tokens beside chunks that carry some is no count: chunks are counted, and
// the report says so.
func TestImpossibleCounts(t *testing.T) {
	for _, n := range []any{0, -8, 1 << 22, 999_999_999, 1e9, 1e18} {
		w := evaluate(t, func(_ *asked, s *stream) {
			s.tokens(8, 10*ms)
			s.finish()
			s.event(object{"choices": []object{}, "usage": object{"prompt_tokens": 8, "completion_tokens": n}})
			s.raw("data: [DONE]\n\n")
		}, func(c *Config) { c.Output.Low, c.Output.High = 8, 8 })
		s := &w.Stages[0]
		if s.OutputRate <= 0 || s.Counted != 0 || !told(s, "counted the tokens of 0 %") || told(s, "ignore_eos") {
			t.Errorf("%v: %g tokens/s, counted %g, %q", n, s.OutputRate, s.Counted, s.Warnings)
		}
		near(t, "TPOT", s.TPOT.P50, 10)
	}
	w := evaluate(t, func(_ *asked, s *stream) { s.tokens(8, 10*ms); s.end(8, 3) }, nil)
	s := &w.Stages[0]
	if !told(s, "a chunk carries 0.375 tokens") || s.ITL != nil {
		t.Errorf("3 tokens in 8 chunks: ITL %v, %q", s.ITL, s.Warnings)
	}
	near(t, "TPOT", s.TPOT.P50, 70./2) // the service's count is the number, whatever the chunks say
}

// Counts with every chunk that do not lead to the count of the whole say nothing of gaps
// between tokens; a last token without text does no harm.
func TestCountsThatDisagree(t *testing.T) {
	for whole, known := range map[int]bool{8: true, 9: true, 80: false, 5: false} {
		w := evaluate(t, func(_ *asked, s *stream) {
			for i := range 8 {
				s.sleep(10 * ms)
				s.delta(object{"content": "a "}, usageOf(8, i+1))
			}
			s.end(8, whole)
		}, nil)
		if s := &w.Stages[0]; (s.ITL != nil) != known {
			t.Errorf("%d counted with chunks of 8: ITL %v", whole, s.ITL)
		}
	}
}

// A first question whose answer is cut off is asked again, and never taken for a prompt of
// no tokens.
func TestFirstQuestionCutOff(t *testing.T) {
	for _, cut := range []int{1, 100} {
		w := evaluate(t, func(a *asked, s *stream) {
			s.tokens(1, ms)
			if a.N > 0 && a.N <= cut && a.Max == 1 {
				return
			}
			s.end(len(a.text())/4+10, 1)
		}, func(c *Config) { c.NoCheck, c.Input.Low, c.Input.High = false, 200, 200 })
		if w.err != nil {
			t.Fatal(w.err)
		}
		if n := len(w.Notes); cut == 1 && n != 0 || cut > 1 && (n != 1 || w.Notes[0].Code != "no_prompt_count") {
			t.Errorf("%d cut off: %q", cut, w.Warnings)
		}
	}
}
