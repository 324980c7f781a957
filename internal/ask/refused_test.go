package ask

import (
	"strings"
	"testing"
)

// Nothing that is typed is dropped in silence: what is said twice, or says nothing
// beside the rest, is refused and named.
func TestNothingTypedIsDropped(t *testing.T) {
	simulate := "--model m --cluster c --plan tp=1 --isl 8 --osl 8 "
	for line, says := range map[string]string{
		"--plan tp=8 --plan tp=4":     "given twice",
		"--model a --model b":         "given twice",
		"--eager --eager":             "given twice",
		"--eager=perhaps":             "neither true nor false",
		"--isl 1 --concurrency 1e300": "exponent beyond e99",
		"--skew 0x1p-2":               "unknown unit",
		"--isl 1 --isl 2":             "given twice",
		"--kv bf16,bf16":              "names a value twice",
		"--weights fp8,fp8":           "names a value twice",
		"--spec mtp:1,mtp:1":          "names a value twice",
		"--net-rtt 1ms,1000us":        "names a value twice",
		"--overlap none,none":         "names a value twice",
	} {
		if err := NewInfer().Flags.Parse(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("infer %s: error %v, want %q", line, err, says)
		}
	}
	for line, says := range map[string]string{
		"--rate 1 --requests 5 --duration 5s":     "give one of them",
		"--rate 1 --slo-at p99":                   "give --slo",
		"--rate 1 --requests 5 --arrival poisson": "",
	} {
		f := NewSimulate()
		if err := f.Flags.Parse(strings.Fields(simulate + line)); err != nil {
			t.Fatal(err)
		}
		_, err := f.load(nil)
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("simulate %s: error %v, want %q", line, err, says)
		}
	}
}
