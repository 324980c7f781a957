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

func ms(v ...float64) (out []unit.Seconds) {
	for _, x := range v {
		out = append(out, unit.Seconds(x*1e-3))
	}
	return out
}

// By hand: 122 exchanges wait half a round trip each, 122 ms for 2 ms more.
func TestLatencyCurve(t *testing.T) {
	points, err := LatencyCurve(wired, batch(1, 0), 1, ms(0, 0.193, 1, 2.193), nil)
	if err != nil {
		t.Fatal(err)
	}
	if rise := points[3].TPOT - points[1].TPOT; math.Abs(float64(rise)-0.122) > 1e-9 {
		t.Errorf("TPOT rises by %g s", rise)
	}
	if points[0].Wire != 0 || math.Abs(points[3].Exchanges()-122) > 1e-9 {
		t.Errorf("wire %g at no latency, %g exchanges", points[0].Wire, points[3].Exchanges())
	}
	for i := 1; i < len(points); i++ {
		if p, q := points[i-1], points[i]; q.Share <= p.Share || q.TokensPerSecond >= p.TokensPerSecond || q.Change >= 0 || math.Abs(float64(q.Wire/q.TPOT)-q.Share) > 1e-12 {
			t.Errorf("%+v after %+v", q, p)
		}
	}
	// Two tokens per step wait half as long each.
	two, _ := LatencyCurve(wired, batch(1, 0), 2, ms(1), nil)
	if math.Abs(float64(two[0].TPOT/points[2].TPOT)-0.5) > 1e-9 {
		t.Errorf("%g s per token with two per step, %g with one", two[0].TPOT, points[2].TPOT)
	}
}

// Fact I7: 16 H20 under TP16 gave 18.943 tokens/s at 0.193 ms and 4.85 at 2.193 ms
// (ZStack, Deep understanding of DeepSeek and enterprise practices, part 4). One
// point predicts the other within 20 %, two are met by the curve.
func TestCalibrationI7(t *testing.T) {
	points, err := ParseMeasured("tpot=52.79ms@rtt=0.193ms, tpot=206.19ms@rtt=2.193ms")
	if err != nil {
		t.Fatal(err)
	}
	one, err := Calibrate(wired, batch(1, 0), 1, points[:1])
	if err != nil {
		t.Fatal(err)
	}
	curve, _ := LatencyCurve(wired, batch(1, 0), 1, ms(0.193, 2.193), one)
	if math.Abs(curve[0].TokensPerSecond-18.943) > 0.01 || math.Abs(curve[1].TokensPerSecond/4.85-1) > 0.2 {
		t.Errorf("calibrated on one point: %.3f and %.3f tokens/s", curve[0].TokensPerSecond, curve[1].TokensPerSecond)
	}
	both, err := Calibrate(wired, batch(1, 0), 1, points)
	if err != nil {
		t.Fatal(err)
	}
	curve, _ = LatencyCurve(wired, batch(1, 0), 1, ms(0.193, 2.193), both)
	for i, m := range points {
		if math.Abs(float64(curve[i].TPOT/m.TPOT)-1) > 1e-9 {
			t.Errorf("calibrated on both: %g s at %g s", curve[i].TPOT, m.RTT)
		}
	}
	if math.Abs(both.Slope-153.4/122) > 1e-3 || both.RMS != 0 {
		t.Errorf("slope %g, left %g", both.Slope, both.RMS)
	}
	three, err := Calibrate(wired, batch(1, 0), 1, append(points, Measured{TPOT: 130e-3, RTT: 1e-3}))
	if err != nil || three.RMS <= 0 || three.RMS > 10e-3 {
		t.Errorf("three points: %+v, %v", three, err)
	}
}

func TestBadLatency(t *testing.T) {
	if _, err := LatencyCurve(wired, batch(1, 0), 1, ms(-1), nil); err == nil || !strings.Contains(err.Error(), "give 0 or more") {
		t.Errorf("negative latency: %v", err)
	}
	broken := errors.New("does not fit")
	fails := func(unit.Seconds) (Stepper, error) { return nil, broken }
	if _, err := LatencyCurve(fails, batch(1, 0), 1, ms(1), nil); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if _, err := Calibrate(fails, batch(1, 0), 1, []Measured{{1, 1}}); !errors.Is(err, broken) {
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
		if _, err := Calibrate(c.at, batch(1, 0), 1, c.points); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
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
