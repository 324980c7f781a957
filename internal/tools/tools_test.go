package tools

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/record"
)

func read(t *testing.T, file string) *record.Record {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rec, err := Read(f, file)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// perftest's MB and MiB are the same 2^20 bytes under two names.
func TestPerftestUnits(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "ib_write_bw.txt"))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := Read(bytes.NewReader(bytes.ReplaceAll(text, []byte("[MB/sec]"), []byte("[MiB/sec]"))), "new.txt")
	if err != nil || len(rec.Results) != 1 || rec.Results[0].Value != 46949.63*(1<<20) {
		t.Errorf("%+v, %v", rec, err)
	}
}

// Each figure of a sample output in SI, by hand from the text beside it.
func TestFiguresOfEveryTool(t *testing.T) {
	for _, c := range []struct {
		file, tool string
		results    int
		at         int // which result is looked at
		kind, what string
		value      float64
		bytes      int64
		device     string
	}{
		{"all_reduce.txt", "nccl-tests version 2.14.1 nccl-headers=22304 nccl-library=22304", 4, 2, record.Collective, "all-reduce", 4100e-6, 1 << 30, ""}, // in place
		{"all_reduce.txt", "nccl-tests version 2.14.1 nccl-headers=22304 nccl-library=22304", 4, 3, record.Collective, "all-reduce", 4000e-6, 1 << 30, ""},
		{"nvbandwidth.txt", "nvbandwidth", 4, 0, record.Copy, "host-to-device", 55.63e9, 0, "gpu0"},
		{"nvbandwidth.txt", "nvbandwidth", 4, 3, record.Copy, "device-to-device", 276.36e9, 0, "gpu1-gpu0"},
		{"nvbandwidth.json", "nvbandwidth", 4, 1, record.Copy, "device", 2 * 1291.5e9, 0, "gpu1"},
		{"nvbandwidth.json", "nvbandwidth", 4, 3, record.Copy, "device-to-device", 276.36e9, 0, "gpu1-gpu0"},
		{"ib_write_bw.txt", "perftest", 1, 0, record.Network, "bandwidth", 46949.63 * (1 << 20), 65536, ""},
		{"ib_read_lat.txt", "perftest", 1, 0, record.Network, "round-trip", 1.75e-6, 2, ""},
		{"smi.csv", "nvidia-smi", 5, 0, record.Clock, "sm", 1950e6, 0, "gpu0"},
		{"smi.csv", "nvidia-smi", 5, 2, record.Power, "draw", 694.5, 0, "gpu0"},
		{"dcgm.txt", "dcgmi", 3, 0, record.Clock, "sm", 1980e6, 0, "gpu0"},
		{"llama.json", "llama-bench", 2, 0, record.Serving, "prefill", 4, 0, "cpu"},
		{"llama.json", "llama-bench", 2, 1, record.Serving, "decode", 0.05, 0, "cpu"},
		{"llama.csv", "llama-bench", 2, 0, record.Serving, "prefill", 4, 0, "cpu"},
		{"llama.md", "llama-bench", 2, 1, record.Serving, "decode", 0.05, 0, "cpu"},
		{"steps.json", "llama.cpp server", 2, 1, record.Serving, "decode", 0.014, 0, "cpu"},
		{"bench.json", "ridgeline bench", 3, 1, record.Serving, "prefill", 0.2, 0, "service"},
		{"bench.json", "ridgeline bench", 3, 2, record.Serving, "decode", 0.02, 0, "service"},
		{"megatron.log", "Megatron-LM", 3, 2, record.Training, "tokens", 4000, 0, ""}, // 64 x 4096 / 8 / 8.192 s
		{"titan.log", "torchtitan", 2, 0, record.Training, "tokens", 5931, 0, ""},
		{"nemo.log", "NeMo", 1, 0, record.Training, "step", 5.73, 0, ""},
	} {
		rec := read(t, c.file)
		if rec.Tool != c.tool || len(rec.Results) != c.results {
			t.Errorf("%s: %d results of %s, want %d of %s", c.file, len(rec.Results), rec.Tool, c.results, c.tool)
			continue
		}
		r := rec.Results[c.at]
		if r.Kind != c.kind || r.What != c.what || math.Abs(r.Value/c.value-1) > 1e-12 || r.Bytes != c.bytes || r.Device != c.device {
			t.Errorf("%s: %+v, want %s %s %g, %d bytes, %q", c.file, r, c.kind, c.what, c.value, c.bytes, c.device)
		}
	}
	nccl := read(t, "all_reduce.txt")
	if r := nccl.Results[0]; r.Ranks != 4 || r.Nodes != 2 || len(nccl.Machine.GPUs) != 4 {
		t.Errorf("nccl-tests: %d ranks on %d nodes, %v", r.Ranks, r.Nodes, nccl.Machine.GPUs)
	}
	if r := read(t, "llama.md").Results[1]; r.Context != 4096+64 || r.Threads != 16 {
		t.Errorf("llama-bench: %+v", r)
	}
}

// A Megatron-LM log states the batch of its steps; of a batch that grows the last is read.
func TestBatchOfMegatron(t *testing.T) {
	line := func(ms, batch int) string {
		return fmt.Sprintf(" iteration 9/ 99 | elapsed time per iteration (ms): %d.0 | throughput per GPU (TFLOP/s/GPU): 400.0 | global batch size: %5d | lm loss: 1\n", ms, batch)
	}
	equal := strings.Repeat(line(9000, 128), 6)
	ramp := strings.Repeat(line(4000, 64), 6) + strings.Repeat(line(9000, 128), 6)
	const args = "  seq_length ...................................... 4096\n  world_size ...................................... 64\n"
	for text, want := range map[string]struct {
		notes  int
		tokens int64
	}{equal: {0, 0}, ramp: {1, 0}, args + equal: {0, 128 * 4096}, equal + " elapsed time per iteration (ms): 9000.0 |\n": {0, 0}} {
		rec, err := Read(strings.NewReader(text), "m.log")
		if err != nil {
			t.Fatal(err)
		}
		if r := rec.Results[0]; r.What != "step" || r.Value != 9 || r.Batch != 128 || r.Tokens != want.tokens || len(rec.Notes) != want.notes {
			t.Errorf("%+v, notes %q, want %+v", r, rec.Notes, want)
		}
	}
	if _, err := Read(strings.NewReader(strings.Repeat(line(4000, 64), 6)+line(9000, 128)), "m.log"); err == nil || !strings.Contains(err.Error(), "warm-up") {
		t.Errorf("one step of the last batch: %v", err)
	}
}

// Bad texts are one line that names the file.
func TestBadOutputs(t *testing.T) {
	sample, err := os.ReadFile("testdata/all_reduce.txt")
	if err != nil {
		t.Fatal(err)
	}
	unnamed := strings.Replace(string(sample), "# Collective test starting: all_reduce_perf\n", "", 1)
	for text, says := range map[string]string{
		"":                "no output of a known tool",
		"hello":           "no output of a known tool",
		"# size busbw\n":  "no figure",
		`{"nvbandwidth":`: "unexpected end",
		strings.Replace(string(sample), "392.83      0", "392.83      7", 1):                           "wrong values",
		strings.Replace(string(sample), "402.65      0", "402.65      7", 1):                           "wrong values",
		strings.ReplaceAll(strings.ReplaceAll(unnamed, "392.83", "196.00"), "# nccl-tests", "# tests"): "name the file after the program",
		"[{\"avg_ts\": -1}]":                                "no measurement",
		"step: 1 tps: 0\n":                                  `line 1: "0" is no measurement`,
		"step: 1 tps: 9\nstep: 2 tps: 1e300\n":              `line 2: "1e300" is no measurement`,
		strings.Repeat("train_step_timing in s: 5.7,\n", 3): "give a log of 4 or more",
		"elapsed time per iteration (ms): nan | x\n":        `line 1: "nan" is no measurement`,
		"elapsed time per iteration (ms): 1e300 | x\n":      `line 1: "1e300" is no measurement`,
	} {
		_, err := Read(strings.NewReader(text), "x.txt")
		if err == nil || !strings.Contains(err.Error(), says) || !strings.HasPrefix(err.Error(), "x.txt") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: error %v, want one line with %q", text, err, says)
		}
	}
	// The ratio of the two bandwidths tells an all-reduce whose name is lost.
	rec, err := Read(strings.NewReader(unnamed), "x.txt")
	if err != nil || rec.Results[0].What != "all-reduce" || rec.Results[3].What != "all-reduce" {
		t.Errorf("%v, error %v", rec, err)
	}
	// A file's name that the ratio contradicts is none, one that it bears out is.
	if _, err = Read(strings.NewReader(unnamed), "reduce_scatter_perf.txt"); err == nil || !strings.Contains(err.Error(), "not reduce-scatter's 0.75") {
		t.Error(err)
	}
	scattered := strings.NewReplacer("402.65", "201.33", "392.83", "196.42").Replace(unnamed)
	if rec, err = Read(strings.NewReader(scattered), "reduce_scatter_perf.txt"); err != nil || rec.Results[0].What != "reduce-scatter" {
		t.Errorf("%v, error %v", rec, err)
	}
	// Each of several runs in one file has its own ranks and its own name.
	gathered := strings.NewReplacer("all_reduce_perf", "all_gather_perf", "402.65", "201.33", "392.83", "196.42").Replace(string(sample))
	rec, err = Read(strings.NewReader(string(sample)+gathered), "x.txt")
	if err != nil || len(rec.Results) != 8 || len(rec.Machine.GPUs) != 4 {
		t.Fatalf("%v, error %v", rec, err)
	}
	for i, want := range []string{"all-reduce", "all-gather"} {
		if r := rec.Results[4*i+3]; r.What != want || r.Ranks != 4 || r.Nodes != 2 {
			t.Errorf("run %d: %+v", i+1, r)
		}
	}
}

// Steps of the last batch count, each log is of one run, and what it says of its layout is kept.
func TestOneRunOfOneBatch(t *testing.T) {
	line := func(batch int, s float64) string {
		return fmt.Sprintf("iteration 1/99 | global_batch_size: %d | train_step_timing in s: %g\n", batch, s)
	}
	rec, err := Read(strings.NewReader(strings.Repeat(line(96, 13.5), 40)+strings.Repeat(line(128, 18), 20)), "nemo.log")
	if err != nil || rec.Results[0].Value != 18 || rec.Results[0].Batch != 128 || rec.Results[0].Repeats != 17 {
		t.Errorf("%+v, error %v", rec, err)
	}
	head := "using world size: 64, data-parallel size: 4, context-parallel size: 1, tensor-model-parallel size: 4, pipeline-model-parallel size: 4\n" +
		"  encoder_tensor_model_parallel_size .............. 0\n  expert_tensor_parallel_size ..................... 2\n" +
		"  micro_batch_size ................................ 1\n  virtual_pipeline_model_parallel_size ............ None\n  world_size ...................................... 64\n"
	steps := strings.Repeat(" iteration | elapsed time per iteration (ms): 18000.0 | global batch size:   128 |\n", 5)
	rec, err = Read(strings.NewReader(head+steps), "m.log")
	if err != nil || rec.Results[0].Layout != "cp=1,mbs=1,pp=4,tp=4,vpp=1" {
		t.Errorf("%+v, error %v", rec, err)
	}
	for from, to := range map[string]string{"tensor-model-parallel size: 4": "tensor-model-parallel size: 8", ". 64": ". 32"} {
		if rec, err = Read(strings.NewReader(head+"  seq_length .. 4096\n"+steps+strings.Replace(head, from, to, 1)+steps), "m.log"); err == nil || !strings.Contains(err.Error(), "one run") {
			t.Errorf("%s: %+v, error %v", to, rec, err)
		}
	}
}

// Half of what both directions of a link move together is one's.
func TestBidirectional(t *testing.T) {
	text, err := os.ReadFile("testdata/ib_write_bw.txt")
	if err != nil {
		t.Fatal(err)
	}
	one := read(t, "ib_write_bw.txt").Results[0].Value
	rec, err := Read(strings.NewReader(strings.Replace(string(text), "RDMA_Write BW Test", "RDMA_Write Bidirectional BW Test", 1)), "x")
	if err != nil || rec.Results[0].Value != one/2 {
		t.Errorf("%+v, error %v; one way %g", rec, err, one)
	}
}

// The progress bar of NeMo is drawn anew over itself, and a log may hold addresses.
func TestProgressBar(t *testing.T) {
	text := "wandb: View run at https://wandb.ai/run\n"
	for i := range 8 {
		text += fmt.Sprintf("Epoch 0: :   0%%|  | %d/300 [01:00<1:00:00, global_step=%d.0, train_step_timing in s=%d.00]\r", i, i, 20-min(i, 3))
	}
	rec, err := Read(strings.NewReader(text), "nemo.log")
	if err != nil || rec.Tool != "NeMo" || rec.Results[0].Repeats != 5 || rec.Results[0].Value != 17 {
		t.Errorf("%+v, error %v", rec, err)
	}
}

// FuzzRead looks for panics and for figures that are none, in every reader.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := Read(bytes.NewReader(data), "fuzz.txt")
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("error of several lines: %q", err)
			}
			return
		}
		if err := rec.Check("fuzz.txt"); err != nil || len(rec.Results) == 0 {
			t.Fatal("accepted without figures: ", err)
		}
	})
}
