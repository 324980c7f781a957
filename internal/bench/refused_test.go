package bench

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// A service that refuses the first question for a moment is asked again; one that goes
// on refusing ends the run with the way round it.
func TestRefusedFirstQuestion(t *testing.T) {
	for refusals, ok := range map[int]bool{1: true, refusedTries: true, refusedTries + 1: false} {
		w := evaluate(t, func(a *asked, s *stream) {
			if a.N < refusals {
				s.w.Header().Set("Retry-After", "2")
				s.w.WriteHeader(429 + 74*(a.N%2)) // 429 and 503
				return
			}
			s.tokens(a.Max, time.Millisecond)
			s.end(8, a.Max)
		}, func(c *Config) { c.NoCheck = false })
		if (w.err == nil) != ok || !ok && !strings.Contains(w.err.Error(), "--no-check") {
			t.Errorf("%d refusals: %v", refusals, w.err)
		}
		if !ok && len(w.asked) != refusedTries+1 {
			t.Errorf("asked %d times", len(w.asked))
		}
	}
}

// A mean lies between the least and the greatest sample, rounding or not.
func TestMeanWithinSamples(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		v := make([]float64, 1+rng.IntN(50))
		base := rng.ExpFloat64()
		for i := range v {
			v[i] = base
			if rng.IntN(3) == 0 {
				v[i] = math.Nextafter(base, 9)
			}
		}
		if d := NewDist(v); d.Mean < d.Min || d.Mean > d.Max {
			t.Fatalf("mean %v of %v..%v", d.Mean, d.Min, d.Max)
		}
	}
}

// A service that repeats the key does not bring it into the records.
func TestKeptTextsHoldNoKey(t *testing.T) {
	w := evaluate(t, func(a *asked, s *stream) {
		s.delta(object{"content": "your key is secret-1"})
		s.end(8, 1)
	}, func(c *Config) { c.Service.Key, c.Keep, c.NoCheck = "secret-1", true, true })
	if len(w.records) == 0 || w.records[0].Text != "your key is [key]" {
		t.Errorf("%v: %+v", w.err, w.records)
	}
}

// Names that would move a terminal's cursor, and addresses that no metrics come from, are
// refused before anything is sent.
func TestTextsOfAReportAreChecked(t *testing.T) {
	for says, set := range map[string]func(*Config){
		"the worker's name \"a\\tb\"": func(c *Config) { c.Worker = "a\tb" }, "the nonce": func(c *Config) { c.Nonce = "\x00" },
		"the model's name": func(c *Config) { c.Service.Model = "m\x1b[2J" }, `the label "k"`: func(c *Config) { c.Labels = map[string]string{"k": "v\n"} },
		"the address of the metrics": func(c *Config) { c.Metrics = "http://user:secret@h/metrics" },
	} {
		w := evaluate(t, steady(time.Millisecond, 2, time.Millisecond), set)
		if w.err == nil || !strings.Contains(w.err.Error(), says) || len(w.asked) > 0 || strings.Contains(w.err.Error(), "secret") {
			t.Errorf("%v after %d questions, want %q", w.err, len(w.asked), says)
		}
	}
}
