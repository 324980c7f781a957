package validate

import (
	"strings"
	"testing"
)

// Closed loops become rows; what is none is named.
func TestReadBench(t *testing.T) {
	text := `{"stages": [
{"mode": "closed", "concurrency": 4, "ttft_ms": {"n": 9, "mean": 80}, "tpot_ms": {"n": 9, "mean": 9.5}, "input_tokens": {"mean": 1023.6}, "output_tokens": {"mean": 128}, "client": {"valid": true}},
{"mode": "open", "concurrency": 4, "tpot_ms": {"n": 9, "mean": 9.5}, "input_tokens": {"mean": 1}, "output_tokens": {"mean": 1}},
{"mode": "closed", "concurrency": 8, "tpot_ms": {"n": 9, "mean": 9.5}, "input_tokens": {"mean": 1}, "output_tokens": {"mean": 1}, "client": {"valid": false}},
{"mode": "closed", "concurrency": 0, "tpot_ms": {"n": 9, "mean": 9.5}, "input_tokens": {"mean": 1}, "output_tokens": {"mean": 1}},
{"mode": "closed", "concurrency": 2, "tpot_ms": {"n": 9, "mean": -1}, "input_tokens": {"mean": 1}, "output_tokens": {"mean": 1}},
{"mode": "closed", "concurrency": 2, "requests": {"sent": 100, "ok": 9}, "tpot_ms": {"n": 9, "mean": 9}, "input_tokens": {"mean": 1}, "output_tokens": {"mean": 1}}]}`
	runs, skipped, err := ReadBench(strings.NewReader(text), "b", &ServingRun{Model: "m", GPUs: 8})
	if err != nil || len(runs) != 1 || len(skipped) != 5 {
		t.Fatal(runs, skipped, err)
	}
	if r := runs[0]; r.ID != "b#1" || r.Model != "m" || r.GPUs != 8 || r.Concurrency != 4 || r.ISL != 1024 || r.OSL != 128 || r.TPOT != 9.5 || r.TTFT != 80 {
		t.Errorf("%+v", r)
	}
	for i, want := range []string{"closed loops", "bottleneck", "no closed loop", "no times", "9 of 100 requests were answered"} {
		if !strings.Contains(skipped[i].Reason, want) {
			t.Errorf("%+v, want %q", skipped[i], want)
		}
	}
	for _, bad := range []string{"", "{", "[]", "{}", "\xff\xfe"} {
		if _, _, err := ReadBench(strings.NewReader(bad), "b", &ServingRun{}); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
}

func FuzzReadBench(f *testing.F) {
	f.Add(`{"stages": [{"mode": "closed", "concurrency": 4, "tpot_ms": {"n": 9, "mean": 9.5}, "input_tokens": {"mean": 1e300}, "output_tokens": {"mean": 128}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		runs, _, err := ReadBench(strings.NewReader(text), "b", &ServingRun{})
		for _, r := range runs {
			if err != nil || r.Concurrency < 1 || r.ISL < 1 || r.OSL < 1 || !(r.TPOT > 0) || !(r.TTFT >= 0) {
				t.Errorf("%+v passed: %v", r, err)
			}
		}
	})
}
