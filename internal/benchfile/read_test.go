package benchfile

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/bench"
)

// One small file per tool, with the keys that its writer uses.
var samples = map[string]string{
	"vllm": `{"date": "20260101-120000", "backend": "vllm", "model_id": "m", "num_prompts": 4, "request_rate": "inf", "max_concurrency": 2, "duration": 2.0,
		"completed": 3, "failed": 1, "total_input_tokens": 300, "total_output_tokens": 30, "request_throughput": 1.5, "output_throughput": 15.0,
		"mean_ttft_ms": 120.0, "median_ttft_ms": 110.0, "std_ttft_ms": 12.5, "p99_ttft_ms": 150.0, "mean_tpot_ms": 9.0, "median_tpot_ms": 9.1, "mean_e2el_ms": 200.0}`,
	"detailed": `{"model_id": "m", "request_rate": 2.5, "duration": 2.0, "num_prompts": 3, "completed": 2, "request_throughput": 1.0, "output_throughput": 3.0,
		"total_input_tokens": 20, "total_output_tokens": 6, "ttfts": [0.1, 0.2, 0.0], "itls": [[0.01, 0.03], [0.02, 0.02]  , []], "output_lens": [3, 3, 0], "errors": ["", "", "gone"]}`,
	"aiperf": `{"time_to_first_token": {"unit": "ms", "avg": 50, "p50": 48, "p90": 70, "p95": 80, "p99": 90, "min": 30, "max": 99, "std": 8},
		"inter_token_latency": {"unit": "ms", "avg": 10.5, "p50": 10}, "request_latency": {"unit": "s", "avg": 1.5, "p50": 1.4},
		"output_token_throughput": {"unit": "tokens/sec", "avg": 400}, "request_throughput": {"unit": "requests/sec", "avg": 4}, "request_count": {"unit": "requests", "avg": 80},
		"output_sequence_length": {"unit": "tokens", "avg": 100, "p50": 100},
		"input_config": {"endpoint": {"model_names": ["m"], "urls": ["http://h:8000"]}, "loadgen": {"concurrency": 8}}}`,
	"llm-d": `{"version": "0.1", "run": {}, "scenario": {"model": {"name": "m"}, "load": {"args": {"request_rate": 5}}},
		"metrics": {"time": {"start": 1749568783.57, "duration": 10}, "requests": {"total": 50, "failures": 2, "output_length": {"units": "count", "mean": 64}},
		"latency": {"time_to_first_token": {"units": "s", "mean": 0.25, "p50": 0.2, "p99": 1}, "time_per_output_token": {"units": "ms/token", "mean": 12}},
		"throughput": {"output_tokens_per_sec": 300, "requests_per_sec": 4.8}}}`,
	"inferencex": `[{"hw": "h200", "tp": 8, "conc": 64, "model": "m", "framework": "sglang", "precision": "fp8", "tput_per_gpu": 700, "output_tput_per_gpu": 100, "mean_ttft": 0.5,
		"median_ttft": 0.4, "mean_tpot": 0.02, "median_tpot": 0.019, "median_intvty": 52.6, "isl": 1024, "osl": 1024},
		{"hw": "h200", "tp": 8, "conc": 4, "model": "m", "framework": "sglang", "precision": "fp8", "tput_per_gpu": 70, "output_tput_per_gpu": 10, "mean_tpot": 0.01}]`,
}

func read(t testing.TB, name string) *bench.Report {
	t.Helper()
	want := name
	if name == "detailed" {
		want = "vllm"
	}
	return readText(t, samples[name], want)
}

func readText(t testing.TB, text, want string) *bench.Report {
	t.Helper()
	i, err := Read(strings.NewReader(text), "")
	if err != nil {
		t.Fatalf("%s: %v", want, err)
	}
	if i.Source != want {
		t.Fatalf("%s is taken for %s", want, i.Source)
	}
	return i.Report
}

// Every figure lands where its meaning is, in this program's units; what a file does
// not state is not known.
func TestFormats(t *testing.T) {
	type figure struct {
		d         bench.Dist
		statistic string
		want      float64 // NaN: not known
	}
	none := math.NaN()
	at := func(name string) *bench.Stage { return &read(t, name).Stages[0] }
	noLoad := readText(t, strings.Replace(samples["llm-d"], `"request_rate": 5`, "", 1), "llm-d").Stages[0]
	v, d, a, l, x := at("vllm"), at("detailed"), at("aiperf"), at("llm-d"), at("inferencex")
	for name, f := range map[string]figure{
		"vllm mean TTFT": {v.TTFT, "mean", 120}, "vllm median": {v.TTFT, "p50", 110}, "vllm p90": {v.TTFT, "p90", none}, "vllm p99": {v.TTFT, "p99", 150},
		"vllm TPOT": {v.TPOT, "mean", 9}, "vllm E2E": {v.E2E, "mean", 200}, "vllm input": {v.Input, "mean", 100}, "vllm no ITL": {v.ICL, "mean", none},
		"detailed TTFT": {d.TTFT, "mean", 150}, "detailed p90": {d.TTFT, "p90", 190}, "detailed TPOT": {d.TPOT, "mean", 20}, "detailed E2E": {d.E2E, "max", 240},
		"aiperf TTFT": {a.TTFT, "p95", 80}, "aiperf ITL is TPOT": {a.TPOT, "mean", 10.5}, "aiperf E2E in s": {a.E2E, "mean", 1500}, "aiperf OSL": {a.Output, "mean", 100},
		"llm-d TTFT in s": {l.TTFT, "p99", 1000}, "llm-d TPOT": {l.TPOT, "mean", 12}, "llm-d no p90": {l.TTFT, "p90", none},
		"inferencex TTFT in s": {x.TTFT, "p50", 400}, "inferencex TPOT": {x.TPOT, "mean", 20},
	} {
		got, ok := f.d.At(f.statistic)
		if ok == math.IsNaN(f.want) || ok && math.Abs(got-f.want) > 1e-9*f.want {
			t.Errorf("%s: %g %v, want %g", name, got, ok, f.want)
		}
	}
	for name, got := range map[string]bool{
		"llm-d time": read(t, "llm-d").Started == "2025-06-10T15:19:43Z", "no llm-d load": noLoad.Mode == bench.Unstated && noLoad.Concurrency == 0,
		"vllm": v.Mode == bench.Closed && v.Concurrency == 2 && v.Requests == bench.Counts{Sent: 4, OK: 3, Failed: 1} && v.OutputRate == 15 && v.InputRate == 150,
		"open": d.Mode == bench.Open && d.Rate == 2.5 && d.Requests.Failed == 1, "aiperf": a.Concurrency == 8 && a.Requests.OK == 80 && a.OutputRate == 400,
		"llm-d": l.Mode == bench.Open && l.Rate == 5 && l.Requests.OK == 48, "inferencex": x.Concurrency == 64 && x.OutputRate == 800 && len(read(t, "inferencex").Stages) == 2,
	} {
		if !got {
			t.Errorf("%s: the load or the counts are wrong", name)
		}
	}
}

func TestRefusals(t *testing.T) {
	for text, says := range map[string]string{
		``: "JSON", `[]`: "JSON", `{}`: "is known by its keys", `{"completed": -1, "request_throughput": 1, "output_throughput": 1}`: "-1 answered",
		`{"completed": 1, "request_throughput": 1}`: "is missing", `{"time_to_first_token": {"unit": "parsec", "avg": 1}}`: "parsec",
		`{"scenario": {}, "metrics": {}}`: "requests.total", `[{"hw": "a", "conc": 0, "tput_per_gpu": 1}]`: "row 1",
		`{"time_to_first_token": {"unit": "ms", "avg": -3}}`: "-3",
	} {
		if _, err := Read(strings.NewReader(text), ""); err == nil {
			t.Errorf("%s was read", text)
		} else if !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}

// Whatever is read can be written as JSON and read back the same.
func FuzzRead(f *testing.F) {
	for _, s := range samples {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		i, err := Read(strings.NewReader(text), "")
		if err != nil {
			return
		}
		b, err := json.Marshal(i.Report)
		if err != nil {
			t.Fatal(err)
		}
		var again bench.Report
		if err := json.Unmarshal(b, &again); err != nil {
			t.Fatal(err)
		}
		c, err := json.Marshal(&again)
		if err != nil || string(c) != string(b) {
			t.Errorf("%s\n%s\n%v", b, c, err)
		}
	})
}

// A text where a number is wanted is an error that names the key, never unknown.
func TestTextsAreNoNumbers(t *testing.T) {
	for text, key := range map[string]string{
		`{"completed": 1, "output_throughput": 1, "request_throughput": 1, "mean_ttft_ms": "x"}`: "mean_ttft_ms",
		`{"hw": "h", "conc": 1, "tput_per_gpu": 1, "mean_ttft": "x"}`:                            "mean_ttft",
	} {
		if _, err := Read(strings.NewReader(text), ""); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Rates that a file does not state are null in JSON, never 0; a stated 0 stays one.
func TestUnstatedRatesAreNull(t *testing.T) {
	for text, want := range map[string][]string{
		`{"completed": 1, "request_throughput": 0.5, "output_throughput": 0, "duration": 2}`: {`"output_tokens_per_second":0,`, `"input_tokens_per_second":null`, `"requests_per_second":0.5`, `"achieved_rate":null`, `"in_flight_mean":null`},
		samples["aiperf"]: {`"output_tokens_per_second":400`, `"input_tokens_per_second":null`, `"chunk_tokens":null`},
		strings.Replace(samples["llm-d"], `"request_rate": 5`, "", 1): {`"mode":null`, `"concurrency":null`, `"rate":null`},
		samples["llm-d"]: {`"output_tokens_per_second":300`, `"input_tokens_per_second":null`, `"requests_per_second":4.8`},
		`{"hw": "h", "conc": 4, "tput_per_gpu": 1, "model": "m"}`: {`"output_tokens_per_second":null`, `"input_tokens_per_second":null`, `"requests_per_second":null`},
	} {
		i, err := Read(strings.NewReader(text), "")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		b, err := json.Marshal(i.Report)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(b), w) {
				t.Errorf("%s: no %s in %s", text, w, b)
			}
		}
	}
}

// Rows of two roles: rates over the GPUs of each role, over all, and neither.
func TestRatesOfTwoRoles(t *testing.T) {
	for text, want := range map[string]bench.Figure{
		`"tput_per_gpu": 100, "output_tput_per_gpu": 200, "input_tput_per_gpu": 50`: 800, // 4 x 200 + 8 x 50 = 12 x 100
		`"tput_per_gpu": 100, "output_tput_per_gpu": 60, "input_tput_per_gpu": 40`:  720, // 12 x 60 + 12 x 40
		`"tput_per_gpu": 100, "output_tput_per_gpu": 10, "input_tput_per_gpu": 10`:  bench.Unknown(),
		`"tput_per_gpu": 100, "output_tput_per_gpu": 10`:                            bench.Unknown(),
	} {
		i, err := Read(strings.NewReader(`{"hw": "h", "conc": 4, "model": "m", "num_prefill_gpu": 8, "num_decode_gpu": 4, `+text+`}`), "")
		if err != nil {
			t.Fatal(err)
		}
		if got := i.Report.Stages[0].OutputRate; got != want && (got.Known() || want.Known()) {
			t.Errorf("%s: %g, want %g", text, float64(got), float64(want))
		}
	}
}

// llm-d writes its report as YAML; another version of it is refused by its number.
func TestYAMLReport(t *testing.T) {
	const report = `
version: '0.1'
run: {uid: 7a, }
scenario:
  model: {name: m}
  load: {name: inference-perf, args: {max_concurrency: 4}}
metrics:
  time: {duration: 10.5, start: 2026-01-02T03:04:05Z}
  requests: {total: 5, failures: 1, input_length: {units: count, mean: 512}}
  latency:
    time_to_first_token: {units: ms, mean: 20, p50: 19.5}
  throughput: {output_tokens_per_sec: 99.5}
`
	i, err := Read(strings.NewReader(report), "")
	if err != nil {
		t.Fatal(err)
	}
	if s := i.Report.Stages[0]; i.Source != "llm-d" || s.Concurrency != 4 || s.Requests.OK != 4 || s.TTFT.P50 != 19.5 || s.OutputRate != 99.5 || s.RequestRate.Known() {
		t.Errorf("%s %+v", i.Source, s)
	}
	for text, says := range map[string]string{strings.Replace(report, "0.1", "0.2", 1): `version "0.2"`, "version: '0.2'\nscenario: {}\nresults: {}\n": `version "0.2"`,
		"a: [": "neither JSON nor a YAML", "{a: 1}": "not JSON", "a: .nan": "lacks", strings.Repeat("a: 1\n", 1<<20): "short YAML"} {
		if _, err := Read(strings.NewReader(text), ""); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.40q: %v, want %q", text, err, says)
		}
	}
}

// Figures that contradict each other are of no run.
func TestContradictions(t *testing.T) {
	for old, new := range map[string]string{
		`"output_throughput": 15.0`: `"output_throughput": 150.0`,
		`"p99_ttft_ms": 150.0`:      `"p99_ttft_ms": 1.0`,
	} {
		text := strings.Replace(samples["vllm"], old, new, 1)
		if _, err := Read(strings.NewReader(text), ""); err == nil {
			t.Errorf("%s is taken", new)
		}
	}
	const said = "n of ICL is the number of requests"
	if i, err := Read(strings.NewReader(strings.Replace(samples["vllm"], "{", `{"mean_itl_ms": 5.0, `, 1)), ""); err != nil || i.Report.Stages[0].ICL.N != i.Report.Stages[0].Requests.OK || !strings.Contains(i.Report.Warnings[0], said) {
		t.Errorf("gaps without their number: %+v, %v", i, err)
	}
	if list := read(t, "detailed").Warnings; strings.Contains(list[0], said) {
		t.Errorf("every gap is listed, and %q", list)
	}
	if d := read(t, "detailed").Stages[0].ICL; d.N != 4 || d.Min != 10 || d.Max != 30 {
		t.Errorf("gaps of the lists: %+v", d)
	}
}

// A URL's user, password and query stay out of the report, and so out of the store.
func TestImportedURLsHoldNoSecrets(t *testing.T) {
	const shown, secret = `"urls": ["http://h:8000"]`, `http://user:pa55@h:8000/v1?key=k3y#f`
	for _, given := range []string{`"urls": ["` + secret + `"]`, `"url": "` + secret + `"`} {
		i, err := Read(strings.NewReader(strings.Replace(samples["aiperf"], shown, given, 1)), "")
		if err != nil || i.Report.URL != "http://h:8000/v1" {
			t.Errorf("%s: %v, %+v", given, err, i)
		}
	}
	i, err := Read(strings.NewReader(strings.Replace(samples["aiperf"], shown, `"url": "user:pa55@h:8000"`, 1)), "")
	if err != nil || i.Report.URL != "h:8000" {
		t.Errorf("without a scheme: %v, %+v", err, i)
	}
}

// The time of a run, as each tool writes it; what cannot be read is none.
func TestTimesOfRuns(t *testing.T) {
	for text, want := range map[string]string{
		"20260101-120000": "2026-01-01T12:00:00Z", "2026-01-01T12:00:00.123456": "2026-01-01T12:00:00Z", "2026-01-01T14:00:00+02:00": "2026-01-01T12:00:00Z",
		"": "", "yesterday": "",
	} {
		got := ""
		if at := instant(text); !at.IsZero() {
			got = at.UTC().Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
