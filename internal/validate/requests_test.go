package validate

import (
	"context"
	"math"
	"strings"
	"testing"
)

const (
	goodStamps = `{"request_id": "a", "input_toks": 100, "output_toks": 3, "queued_ts": 1.0, "first_token_ts": 1.5, "last_token_ts": 2.5}` + "\n" +
		`{"request_id": "b", "input_toks": 50, "output_toks": 1, "queued_ts": 1.2, "first_token_ts": 1.9, "last_token_ts": 1.9}` + "\n"
	goodConfig = `{"model": "llama-3.1-8b", "gpu": "h100", "tp": 1, "engine": "vllm", "weights": "bf16", "kv": "bf16", "max_num_seqs": 64, "link": "pcie"}`
)

func TestReadStamps(t *testing.T) {
	got, err := ReadStamps(strings.NewReader(goodStamps), "x")
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	if a, ok := got[0].TPOT(); !ok || a != 0.5 || got[0].TTFT != 0.5 || got[0].E2E != 1.5 {
		t.Errorf("%+v", got[0])
	}
	if _, ok := got[1].TPOT(); ok {
		t.Error("one token has a time per token")
	}
	for says, change := range map[string][2]string{
		"line 1":     {"{\"request_id\": \"a\"", "{\"request_id\": a"},
		"are needed": {"\"last_token_ts\": 2.5", "\"last\": 2.5"},
		"line 2: key \"output_toks\" stands twice": {"\"output_toks\": 1", "\"output_toks\": 1, \"output_toks\": 2"},
		"line 2: longer than 1 MiB":                {`"b"`, `"` + strings.Repeat("b", maxLine) + `"`},
	} {
		_, err := ReadStamps(strings.NewReader(strings.Replace(goodStamps, change[0], change[1], 1)), "x")
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", says, err)
		}
	}
	nested := strings.Replace(goodStamps, "{", `{"trace": {"a": [1, 2]}, `, 1) // keys that are not read may hold anything
	if all, err := ReadStamps(strings.NewReader(nested), "x"); err != nil || len(all) != 2 {
		t.Errorf("%+v, %v", all, err)
	}
	for says, change := range map[string][2]string{ // kept for the replay, and named
		"correct":                          {"\"last_token_ts\": 2.5", "\"last_token_ts\": 0.5"},
		"of 0 tokens":                      {"\"output_toks\": 3", "\"output_toks\": 0"},
		"last_token_ts is 1e+300":          {"\"last_token_ts\": 2.5", "\"last_token_ts\": 1e300"},
		"queued_ts is -2e+12":              {"\"queued_ts\": 1.0", "\"queued_ts\": -2e12"},
		"last_token_ts make times of 4.99": {"\"last_token_ts\": 2.5", "\"last_token_ts\": 1.50000001"},
	} {
		all, err := ReadStamps(strings.NewReader("\ufeff"+strings.Replace(goodStamps, change[0], change[1], 1)), "x")
		if err != nil || len(all) != 2 || !strings.Contains(all[0].Bad, says) || all[1].Bad != "" {
			t.Errorf("%s: %+v, %v", says, all, err)
		}
	}
	if _, err := ReadStamps(strings.NewReader("\n"), "x"); err == nil {
		t.Error("an empty file passes")
	}
}

// A request_id that stands twice is one request told twice, or two that cannot be told apart.
func TestStampsOfOneRequestStandOnce(t *testing.T) {
	all, err := ReadStamps(strings.NewReader(strings.Replace(goodStamps, `"b"`, `"a"`, 1)), "x")
	if err != nil || len(all) != 2 || all[0].Bad != "" || !strings.Contains(all[1].Bad, `line 2: request_id "a" stands on line 1 too`) {
		t.Errorf("%+v, %v", all, err)
	}
}

// A key that is not read is said; one that the shared files have for their readers is not.
func TestUnknownKeysOfADeploymentAreSaid(t *testing.T) {
	for text, want := range map[string]string{goodConfig: "", strings.Replace(goodConfig, `"max_num_seqs"`, `"max_num_seq"`, 1): "max_num_seq. "} {
		c, err := ReadRequestsConfig(strings.NewReader(text), "x")
		if err != nil {
			t.Fatal(err)
		}
		if n := c.notes(); (want == "") != (len(n) == 0) || want != "" && !strings.Contains(n[0], want) {
			t.Errorf("%s: %q", text, n)
		}
	}
}

func TestReadRequestsConfig(t *testing.T) {
	if c, err := ReadRequestsConfig(strings.NewReader(goodConfig), "x"); err != nil || c.MaxSequences != 64 {
		t.Fatal(c, err)
	}
	for says, change := range map[string][2]string{
		`"model" is missing`:            {"llama-3.1-8b", ""},
		`"max_num_seqs"`:                {"64", "-64"},
		"one JSON object":               {"{", "["},
		"\"engine_version\" is \"x.y\"": {`"tp": 1`, `"tp": 1, "engine_version": "x.y"`},
	} {
		_, err := ReadRequestsConfig(strings.NewReader(strings.Replace(goodConfig, change[0], change[1], 1)), "x")
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", says, err)
		}
	}
}

// Equal distributions have no error, a scaled one the scale's.
func TestSpread(t *testing.T) {
	var p pairs
	for i := range 100 {
		p.add(float64(i+1), 1.5*float64(i+1))
	}
	e := p.errors()
	for _, v := range []float64{e.Mean, e.P50, e.P90, e.P99, e.MedianAPE} {
		if math.Abs(v-0.5) > 1e-12 {
			t.Errorf("%+v", e)
		}
	}
	if e.Measured.Mean != 50.5 {
		t.Errorf("mean %g", e.Measured.Mean)
	}
}

// Replayed runs against their measurement (LLMServingSim, MIT): mean TPOT within
// 3 %, mean TTFT within 12 %, its 99th percentile within 15 %. Some constants of these
// cards come from these runs, see docs/accuracy.md.
func TestRequestsErrors(t *testing.T) {
	const mostTPOT, mostTTFT, mostP99 = 0.03, 0.12, 0.15
	for _, file := range []string{"RTX4090-Llama-3.1-8B", "RTXPRO6000-Qwen3-32B"} {
		servingRuns(t) // skips where the measurements are absent
		d, err := RequestsFile(context.Background(), sharedFolder+"measured/requests/"+file+".jsonl", &ServingPredictor{Configs: sharedFolder + "hf-configs"})
		if err != nil {
			t.Fatal(err)
		}
		tpot, ttft := d.Metrics[MetricTPOT], d.Metrics[MetricTTFT]
		if d.Scored != d.Rows || tpot.Mean > mostTPOT || ttft.Mean > mostTTFT || ttft.P99 > mostP99 {
			t.Errorf("%s: %d of %d, mean TPOT off by %.3f, mean TTFT by %.3f, its p99 by %.3f", file, d.Scored, d.Rows, tpot.Mean, ttft.Mean, ttft.P99)
		}
	}
}

func FuzzReadStamps(f *testing.F) {
	f.Add(goodStamps)
	f.Add(`{"output_toks": 1, "queued_ts": 1e308, "first_token_ts": -1e308, "last_token_ts": 1}`)
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ReadStamps(strings.NewReader(text), "x")
		for _, s := range all {
			if v, ok := s.TPOT(); s.Bad == "" && (!(s.TTFT > 0) || math.IsInf(s.E2E, 0) || ok && !(v > 0)) {
				t.Errorf("%+v passed: %v", s, err)
			}
		}
	})
}

func FuzzReadRequestsConfig(f *testing.F) {
	f.Add(goodConfig)
	f.Add(`{"model": "a", "gpu": "b", "weights": "c", "tp": 1e30}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ReadRequestsConfig(strings.NewReader(text), "x")
		if err == nil && (c.Model == "" || c.TP < 0 || c.Blocks < 0) {
			t.Errorf("%+v passed", c)
		}
	})
}
