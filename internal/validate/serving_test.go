package validate

import (
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/unit"
)

const servingHeader = "id,model,gpu,engine,engine_version,mode,weights,expert_weights,spec_decode,isl,osl,concurrency,gpus,tp,pp,dp,ep,ttft_ms,tpot_ms\n"

const goodServing = "a,llama-3.1-8b,h100,vllm,,aggregated,bf16,,none,1024,128,8,1,1,1,1,1,60,8\n"

// Errors on the measured runs stay below what the accuracy document states.
func TestServingErrors(t *testing.T) {
	runs, p := servingRuns(t)
	d := Serving(t.Context(), runs, nil, p)
	if d.Scored < d.Rows*97/100 || d.Scored+len(d.Skipped) != d.Rows {
		t.Errorf("%d of %d rows scored, %d skipped", d.Scored, d.Rows, len(d.Skipped))
	}
	for name, most := range map[string][2]float64{MetricTPOT: {0.07, 0.099}, MetricTTFT: {0.17, 0.27}} {
		if e := d.Metrics[name]; e.MedianAPE > most[0] || e.MAPE > most[1] {
			t.Errorf("%s: median %.3f, mean %.3f, want at most %g", name, e.MedianAPE, e.MAPE, most)
		}
	}
	n := 0
	for _, g := range d.Groups {
		if g.Key["layout"] != "" && len(g.Key) == 1 {
			n += g.N
		}
	}
	if n != d.Scored {
		t.Errorf("layouts hold %d rows of %d", n, d.Scored)
	}
}

// A measurement never reaches its prediction.
func TestServingPredictsFromTheDescription(t *testing.T) {
	var got []ServingPrediction
	for _, line := range []string{goodServing, strings.Replace(goodServing, "60,8", "6000,800", 1)} {
		runs, bad, err := ReadServing(strings.NewReader(servingHeader+line), "x")
		if err != nil || len(bad) > 0 {
			t.Fatal(bad, err)
		}
		x, err := (&ServingPredictor{}).Predict(&runs[0])
		if err != nil {
			t.Fatal(err)
		}
		x.decoder = nil // what priced it, each its own
		got = append(got, *x)
	}
	if got[0] != got[1] {
		t.Errorf("%+v and %+v", got[0], got[1])
	}
}

// Tables write fp8 of checkpoints with a scale per block, too.
func TestBlockScalesOfTheCheckpoint(t *testing.T) {
	m, err := catalog.Model("deepseek-r1")
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]unit.Format{"fp8": unit.FP8Block, "nvfp4": unit.NVFP4, "bf16": unit.BF16} {
		w, x, err := (&ServingRun{Weights: word, Experts: word}).formats(m)
		if err != nil || w != want || x != want {
			t.Errorf("%s: %v and %v, %v", word, w, x, err)
		}
	}
}

// A row that makes no sense is named with its column; the others are scored.
func TestBadServingRows(t *testing.T) {
	for says, change := range map[string][2]string{
		`"tpot_ms"`:      {",60,8", ",60,-8"},
		`"ttft_ms"`:      {",60,8", ",0,8"},
		`"gpus"`:         {"8,1,1,1,1,1", "8,3,2,1,1,1"},
		`"concurrency"`:  {"128,8,1", "128,0,1"},
		`"dp" is "0"`:    {"8,1,1,1,1,1", "8,1,1,1,0,1"},
		`"tp" is 107374`: {"8,1,1,1,1,1", "8,1,1073741824,1073741824,16,1"}, // their product is 0 modulo 2^64
		`"ep" = 3`:       {"8,1,1,1,1,1", "8,4,4,1,1,3"},
		`"mode"`:         {"aggregated", "scattered"},
		`"gpu"`:          {"h100", "h1000"},
		`"model"`:        {"llama-3.1-8b", "llama-0-9b"},
		`"weights"`:      {"bf16", "bf15"},
		`"engine"`:       {"vllm", "vlm"},
		`twice`:          {"a,llama", "b,llama"},
		`20 cells`:       {"\n", ",1\n"},
		`"id" is empty`:  {"a,llama", ",llama"},
		"quotes":         {"a,llama", "a\"b,llama"},
		`give none or`:   {",none,", ",some,"},
		`"osl" is "1e9"`: {",128,", ",1e9,"},
	} {
		text := servingHeader + strings.Replace(goodServing, "a,", "b,", 1) + strings.Replace(goodServing, change[0], change[1], 1)
		runs, bad, err := ReadServing(strings.NewReader(text), "x")
		if err != nil {
			t.Fatal(says, err)
		}
		d := Serving(t.Context(), runs, bad, &ServingPredictor{})
		if d.Scored != 1 || d.Malformed != 1 || !strings.Contains(d.Skipped[0].Reason, says) || strings.Contains(d.Skipped[0].Reason, "\n") {
			t.Errorf("%s: %d scored, %d malformed, %+v", says, d.Scored, d.Malformed, d.Skipped)
		}
	}
}

// A row that is wrong makes the input bad; one that only cannot be predicted does not.
func TestWrongRowsAreToldFromUnpredictable(t *testing.T) {
	for _, c := range []struct {
		row, says string
		wrong     bool
	}{
		{"b,llama-3.1-8b,h100,vllm,,aggregated,bf16,,none,1000000000,128,8,1,1,1,1,1,60,8", `columns "isl", "osl": a request of 1000000000 + 128`, true},
		{"b,llama-3.1-8b,h100,vllm,,aggregated,bf16,,none,1024,128,8,3,3,1,1,1,60,8", `columns "tp", "pp", "dp", "ep": plan key tp=3`, true},
		{"b,llama-3.1-8b,h100,vllm,,aggregated,bf16,,none,1024,128,8,2,2,1,1,2,60,8", "has no routed experts", true},
		{"b,llama-3.1-8b,h100,vllm,,aggregated,bf16,,mtp,1024,128,8,1,1,1,1,1,60,8", `column "spec_decode": `, true},
		{"b,llama-3.1-8b,h100,vllm,x.y,aggregated,bf16,,none,1024,128,8,1,1,1,1,1,60,8", `column "engine_version" is "x.y"`, true},
		{"b,llama-3.1-70b,h100,vllm,,aggregated,bf16,,none,1024,128,8,1,1,1,1,1,60,8", "GB per GPU", false},
	} {
		runs, bad, err := ReadServing(strings.NewReader(servingHeader+goodServing+c.row+"\n"), "x")
		if err != nil {
			t.Fatal(err)
		}
		d := Serving(t.Context(), runs, bad, &ServingPredictor{})
		if d.Scored != 1 || len(d.Skipped) != 1 || d.Malformed == 1 != c.wrong || !strings.Contains(d.Skipped[0].Reason, c.says) {
			t.Errorf("%s: %d scored, %d malformed, %+v", c.row, d.Scored, d.Malformed, d.Skipped)
		}
	}
}

// Builds between releases have no number and are the latest.
func TestVersions(t *testing.T) {
	for v, ok := range map[string]bool{"": true, "0.12.0": true, "v0.5.9": true, "1.2.0rc6.post3": true, "gpt-oss-dev": true, "nightly-dev-20260402-d7256eb6": true, "x.y": false, "v": false, "newest": false} {
		if err := checkVersion(v); (err == nil) != ok {
			t.Errorf("%q: %v", v, err)
		}
	}
}

// Tables that cannot be read at all are errors of one line.
func TestBadServingTables(t *testing.T) {
	for says, text := range map[string]string{
		"empty":        "",
		`"tpot_ms"`:    strings.Replace(servingHeader, "tpot_ms", "tpot", 1) + goodServing,
		"no rows":      servingHeader,
		"stands twice": strings.TrimSuffix(servingHeader, "\n") + ",tp\n" + strings.TrimSuffix(goodServing, "\n") + ",1\n",
		"by commas":    strings.ReplaceAll(servingHeader+goodServing, ",", ";"),
	} {
		if _, _, err := ReadServing(strings.NewReader(text), "x"); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", says, err)
		}
	}
}

// Two roles need their columns.
func TestDisaggregatedRows(t *testing.T) {
	split := strings.TrimSuffix(servingHeader, "\n") + "," + strings.Join(splitColumns, ",") + "\n"
	row := strings.TrimSuffix(strings.Replace(strings.Replace(goodServing, "aggregated", "disaggregated", 1), ",8,1,1,", ",64,8,,", 1), "\n")
	runs, bad, err := ReadServing(strings.NewReader(split+row+",4,1,1,1,2,2,1,1\n"), "x")
	if err != nil || len(bad) > 0 {
		t.Fatal(bad, err)
	}
	x, err := (&ServingPredictor{}).Predict(&runs[0])
	if err != nil || !(x.TPOT > 0) || !(x.TTFT > 0) {
		t.Errorf("%+v, %v", x, err)
	}
	for says, text := range map[string]string{
		`"prefill_workers" is missing`: servingHeader + row + "\n",
		"hold 5 GPUs":                  split + row + ",1,1,1,1,2,2,1,1\n",
	} {
		_, bad, err := ReadServing(strings.NewReader(text), "x")
		if err != nil || len(bad) != 1 || !strings.Contains(bad[0].Reason, says) {
			t.Errorf("%s: %+v, %v", says, bad, err)
		}
	}
}

func FuzzReadServing(f *testing.F) {
	f.Add(servingHeader + goodServing)
	f.Add(servingHeader + strings.Replace(goodServing, "60,8", "NaN,1e400", 1))
	f.Add("id\n\"")
	f.Fuzz(func(t *testing.T, text string) {
		runs, bad, err := ReadServing(strings.NewReader(text), "x")
		if err != nil {
			return
		}
		for _, r := range runs {
			if !(r.TPOT > 0) || r.GPUs < 1 || r.ISL < 1 || r.Split == nil && r.Plan.Total() != r.GPUs {
				t.Errorf("%+v passed", r)
			}
		}
		for _, s := range bad {
			if s.ID == "" || s.Reason == "" {
				t.Errorf("%+v says nothing", s)
			}
		}
	})
}
