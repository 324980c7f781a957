package infer

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// wired is a decoder of 41 ms besides 122 exchanges between two nodes.
func wired(rtt unit.Seconds) (Stepper, error) {
	return &fake{weights: 35e-3, start: 1e-3, overhead: 5e-3, rtt: rtt, exchanges: 122}, nil
}

// alone is a load of which each token is a share of one decode step.
func alone(at AtRTT, tokens float64) TPOTAt {
	return func(c *Calibration, rtt unit.Seconds) (unit.Seconds, error) {
		inner, err := at(rtt)
		if err != nil {
			return 0, err
		}
		return c.Correct(inner, tokens).Step(batch(1, 0)).Total / unit.Seconds(tokens), nil
	}
}

// Prompts read meanwhile stretch a token by a third and 5 ms: one point and two are still
// gone through. Where they take more than was measured, no step is fitted.
func TestCalibrateBesidePrompts(t *testing.T) {
	points := []Measured{{TPOT: 90e-3, RTT: 0.2e-3}, {TPOT: 250e-3, RTT: 2e-3}}
	load := func(fixed unit.Seconds) TPOTAt {
		return func(c *Calibration, rtt unit.Seconds) (unit.Seconds, error) {
			step, err := alone(wired, 1)(c, rtt)
			return step*4/3 + fixed, err
		}
	}
	for n := 1; n <= 2; n++ {
		c, err := Calibrate(wired, batch(1, 0), 1, points[:n], load(5e-3))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range points[:n] {
			if got, _ := load(5e-3)(c, m.RTT); math.Abs(float64(got/m.TPOT)-1) > 1e-5 {
				t.Errorf("%d points: %g s, measured %g", n, float64(got), float64(m.TPOT))
			}
		}
		// the wait as measured bounds a step from below
		inner, _ := wired(2e-3)
		if s := c.Correct(inner, 1).Step(batch(1, 0)); s.Floor < s.Wire {
			t.Errorf("%d points: a step of at least %g s waits %g for the network", n, float64(s.Floor), float64(s.Wire))
		}
	}
	if _, err := Calibrate(wired, batch(1, 0), 1, points[:1], load(80e-3)); err == nil || !strings.Contains(err.Error(), "of prompts read meanwhile") {
		t.Errorf("prompts of 80 of 90 ms: %v", err)
	}
}

// By hand, of a decoder of 41 ms whose 122 exchanges wait half a round trip each: one
// point adds what the model lacks and keeps the waits as counted; two set both, and
// their curve goes through them; three are fitted.
func TestCalibrate(t *testing.T) {
	points := []Measured{{TPOT: 60e-3, RTT: 0.2e-3}, {TPOT: 200e-3, RTT: 2e-3}, {TPOT: 130e-3, RTT: 1e-3}}
	tpot := func(c *Calibration, rtt unit.Seconds, tokens float64) float64 {
		inner, _ := wired(rtt)
		s := c.Correct(inner, tokens).Step(batch(1, 0))
		if s.Floor > s.Total || s.Total > s.Upper {
			t.Errorf("out of order: %+v", s)
		}
		return float64(s.Total) / tokens
	}
	near := func(what string, got, want float64) {
		if math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	fit := func(n int, tokens float64) *Calibration {
		c, err := Calibrate(wired, batch(1, 0), tokens, points[:n], alone(wired, tokens))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	one, two, three := fit(1, 1), fit(2, 1), fit(3, 1)
	near("one point", tpot(one, 0.2e-3, 1), 60e-3)
	near("one point, the other round trip", tpot(one, 2e-3, 1), 60e-3+122*0.9e-3)
	for _, m := range points[:2] {
		near("two points", tpot(two, m.RTT, 1), float64(m.TPOT))
	}
	near("slope", two.Slope, 140e-3/(122*0.9e-3))
	if two.RMS != 0 || three.RMS <= 0 || three.RMS > 10e-3 {
		t.Errorf("left: %g of two points, %g of three", two.RMS, three.RMS)
	}
	// Two tokens per step share its waits.
	near("two tokens per step", tpot(fit(1, 2), 0.2e-3, 2), 60e-3)
	near("two tokens per step, the other round trip", tpot(fit(1, 2), 2e-3, 2), 60e-3+61*0.9e-3)
}

func TestBadLatency(t *testing.T) {
	if _, err := Calibrate(wired, batch(1, 0), 1, []Measured{{TPOT: 1, RTT: -1e-3}}, nil); err == nil || !strings.Contains(err.Error(), "give 0 or more") {
		t.Errorf("negative latency: %v", err)
	}
	broken := errors.New("does not fit")
	fails := func(unit.Seconds) (Stepper, error) { return nil, broken }
	if _, err := Calibrate(fails, batch(1, 0), 1, []Measured{{1, 1}}, nil); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	inNode := func(unit.Seconds) (Stepper, error) { return decoder(), nil }
	for says, c := range map[string]struct {
		at     AtRTT
		points []Measured
	}{
		"no calibration points": {wired, nil},
		"do not grow":           {wired, []Measured{{60e-3, 0.1e-3}, {50e-3, 1e-3}}},
		"no exchange of this":   {inNode, []Measured{{20e-3, 0.1e-3}, {30e-3, 1e-3}}},
		"the network alone":     {wired, []Measured{{50e-3, 1e-3}}},
	} {
		if _, err := Calibrate(c.at, batch(1, 0), 1, c.points, alone(c.at, 1)); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line with %q", err, says)
		}
	}
}

func TestParseMeasured(t *testing.T) {
	got, err := ParseMeasured("tpot=52.8ms@rtt=0.193ms,tpot=0.2s@rtt=2ms")
	if diff := cmp.Diff([]Measured{{52.8e-3, 0.193e-3}, {0.2, 2e-3}}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	for text, says := range map[string]string{
		"":                                     "is not understood",
		"tpot=52ms":                            "is not understood",
		"52ms@0.1ms":                           "is not understood",
		"tpot=52@rtt=1ms":                      "has no unit",
		"tpot=52ms@rtt=-1ms":                   "is negative",
		"tpot=0ms@rtt=1ms":                     "a token takes time",
		"tpot=1ms@rtt=1ms,tpot=2ms@rtt=1ms":    "given twice",
		"tpot=1ms@rtt=1ms,":                    "is not understood",
		"tpot=1ms@rtt=1ms;tpot=2ms@rtt=1000us": "unknown unit",
	} {
		if _, err := ParseMeasured(text); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, want one line with %q", text, err, says)
		}
	}
}

func FuzzParseMeasured(f *testing.F) {
	for _, s := range []string{"tpot=52.8ms@rtt=0.193ms", "tpot=1s@rtt=0,tpot=2s@rtt=1ms", "@", "tpot=@rtt=", "tpot=1ms@rtt=1ms\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		points, err := ParseMeasured(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("%q: more than one line: %q", text, err)
			}
			return
		}
		for _, m := range points {
			if !(m.TPOT > 0 && m.RTT >= 0) || len(points) == 0 {
				t.Errorf("%q: %+v", text, points)
			}
		}
	})
}
