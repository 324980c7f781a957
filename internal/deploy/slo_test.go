package deploy

import (
	"strings"
	"testing"
)

func TestParseSLO(t *testing.T) {
	for text, want := range map[string]SLO{"ttft=2s,tpot=50ms": {2, 0.05}, "tpot=20ms": {0, 0.02}, " TTFT = 500ms ": {0.5, 0}} {
		if got, err := ParseSLO(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{"": "no objective", "ttft": "no objective", "e2e=2s": "no objective", "ttft=2": "has no unit",
		"ttft=0s": "never be met", "ttft=1s,ttft=2s": "twice", "tpot=-1ms": "negative"} {
		_, err := ParseSLO(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseSLO(f *testing.F) {
	for _, s := range []string{"ttft=2s,tpot=50ms", "tpot=1us", "ttft=,", "ttft=1e300s", "=,=", "ttft=3h,tpot=1d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSLO(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") && !strings.ContainsAny(text, "\n\r") {
				t.Errorf("the error has several lines: %q", err)
			}
			return
		}
		if !s.Any() {
			t.Errorf("%q promises nothing", text)
		}
		if again, err := ParseSLO(s.String()); err != nil || !again.Any() {
			t.Errorf("%q prints as %q, which reads as %v, %v", text, s.String(), again, err)
		}
	})
}

func TestMisses(t *testing.T) {
	s := SLO{TTFT: 2, TPOT: 0.05}
	p := &Point{TTFT: 1, TPOT: 0.1, Fits: true}
	if got := s.Misses(p); got != 2 || s.Meets(p) {
		t.Errorf("%g", got)
	}
	p.TPOT = 0.05
	if !s.Meets(p) {
		t.Error("exactly at the limit it is met")
	}
	p.Fits = false
	if s.Meets(p) {
		t.Error("what does not fit meets nothing")
	}
}
