package catalog

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

func TestClusterSpec(t *testing.T) {
	for _, c := range []struct {
		spec, device string
		gpus, nodes  int64
	}{
		{"h800x2048", "h800-sxm", 2048, 256},
		{"H100X8", "h100-sxm", 8, 1},
		{"h100x1", "h100-sxm", 1, 1},
		{"h100x4", "h100-sxm", 4, 1},
		{"rtx-4090x8", "rtx-4090", 8, 1},
		{"mi300xx16", "mi300x", 16, 2}, // the last x separates
		{"gb200x72", "gb200-nvl72", 72, 1},
		{"gb200x256", "gb200-nvl72", 256, 4}, // 64 of each 72
		{"gb200x1024", "gb200-nvl72", 1024, 16},
		{"deepseek-v3-h800", "h800-sxm", 2048, 256},
	} {
		got := mustCluster(t, c.spec)
		if got.Device.Name != c.device || got.GPUs != c.gpus || got.Nodes() != c.nodes || got.Name != c.spec {
			t.Errorf("%s: %s, %d GPUs on %d nodes, named %s", c.spec, got.Device.Name, got.GPUs, got.Nodes(), got.Name)
		}
	}
	if c := mustCluster(t, "gb200x256"); c.Node.GPUs != 64 || !strings.Contains(c.Notes, "64 in each") {
		t.Errorf("%d GPUs per domain, notes %q", c.Node.GPUs, c.Notes)
	}
}

func TestBadClusterSpec(t *testing.T) {
	for spec, says := range map[string]string{
		"h800x0":                     "give 1 to",
		"h800x-8":                    "give 1 to",
		"h800x99999999999999":        "give 1 to",
		"h800x9999999":               "give 1 to",
		"h100":                       "write h100x8",
		"mi300x":                     "write mi300xx8",
		"h100x":                      "no GPU count",
		"h100x8.5":                   "no GPU count",
		"nosuchx8":                   `unknown GPU "nosuch"`,
		"h10x8":                      "nearest are",
		"h100x12":                    "multiple of 8",
		"l40x16":                     "set node.nic_gb_per_s_per_gpu in a cluster file",
		"trainium1x16":               "set node.scale_up_gb_per_s in a cluster file",
		"":                           "h800x2048",
		"x8":                         "h800x2048",
		"8xh100":                     "h800x2048",
		"no/such/file.yaml":          "no such file",
		"deepseek-v3-h80":            "deepseek-v3-h800",
		"h100x8\nh100y8":             "no GPU count",
		strings.Repeat("h100x", 1e6): "h800x2048",
	} {
		_, err := Cluster(spec)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 400 {
			t.Errorf("%.30q: %v, want one line with %q", spec, err, says)
		}
	}
}

const ownCluster = `
name: mine
source: vendor quote, March 2026
device:
  name: npu-x
  arch: hopper
  sm_count: 100
  peak: {bf16_tflops: 500, fp8_tflops: 1000, memory_gb: 96, hbm_gb_per_s: 3000, scale_up_gb_per_s: 400, tdp_w: 600}
  achieved: {bf16_tflops: {value: 400, grade: measured, conditions: our own run}}
gpus: 64
node: {gpus: 16, scale_up_kind: hccs, nic_gb_per_s_per_gpu: 25, nic_kind: roce, nic_latency_us: 4.5}
fabric: {rails: true, oversubscription: 1.5}
price_usd_per_gpu_hour: 1.25
gpu_mtbf_hours: 50000
power_w_per_gpu: 900
notes: nothing
`

func TestOwnCluster(t *testing.T) {
	file := filepath.Join(t.TempDir(), "own.YAML")
	if err := os.WriteFile(file, []byte(ownCluster), 0o600); err != nil {
		t.Fatal(err)
	}
	c := mustCluster(t, file)
	d := c.Device
	if c.Name != "mine" || c.Nodes() != 4 || c.Node.NIC.Value != 25e9 || c.Node.NICLatency.Value != 4.5e-6 || c.Node.ScaleUpKind != "hccs" {
		t.Errorf("node %+v", c.Node)
	}
	if !c.Fabric.Rails || c.Fabric.Oversubscription != 1.5 || c.PricePerGPUHour != 1.25 || c.GPUMTBF != unit.Seconds(50000*3600) || c.PowerPerGPU != 900 {
		t.Errorf("cluster %+v", c)
	}
	if p := d.Peak; p.Matrix[unit.BF16].Value != 500e12 || p.Matrix[unit.FP8Block].Value != 1000e12 || p.Memory.Value != 96e9 || p.HBM.Source != c.Source {
		t.Errorf("peak %+v", p)
	}
	if a := d.Achieved.Matrix[unit.BF16]; a.Grade != hw.Measured || a.Source != "vendor quote, March 2026 (our own run)" {
		t.Errorf("achieved %+v", a)
	}
}

// A link that differs from the usual one keeps the share that was measured.
func TestOtherLinks(t *testing.T) {
	c, err := ReadCluster("x.yaml", []byte("device: h800\ngpus: 16\nnode: {nic_gb_per_s_per_gpu: 25, scale_up_gb_per_s: 400}\n"))
	if err != nil {
		t.Fatal(err)
	}
	a := c.Device.Achieved
	if a.NIC.Value != 25e9 || a.NIC.Grade != hw.Assumed || a.ScaleUp.Value != 320e9 || c.Device.Peak.ScaleUp.Value != 400e9 {
		t.Errorf("achieved NIC %+v, scale-up %+v", a.NIC, a.ScaleUp)
	}
	if c.Device.DefaultNode != c.Node {
		t.Error("the device still refers to its usual node")
	}
	if plain := mustDevice(t, "h800"); plain.Achieved.ScaleUp.Value != 160e9 {
		t.Error("the catalogue changed with the cluster")
	}
}

// A stated peak changes what the catalogue's device achieved by the same share, up and
// down, and survives being written and read; a stated achieved figure stays as it is.
func TestOtherPeaks(t *testing.T) {
	plain := mustDevice(t, "h20")
	for _, gb := range []float64{48, 141} {
		text := fmt.Sprintf("device: h20\ngpus: 8\npeak: {memory_gb: %g, hbm_gb_per_s: 2000, bf16_tflops: 74}\nachieved: {bf16_tflops: 60}\n", gb)
		c, err := ReadCluster("x.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		a, was := &c.Device.Achieved, &plain.Achieved
		if got, want := a.Memory.Value, was.Memory.Value*gb/96; math.Abs(got/want-1) > 1e-12 || !a.Memory.Scaled || a.Memory.Grade != hw.Assumed {
			t.Errorf("%g GB: %g usable (%+v), want %g", gb, got, a.Memory, want)
		}
		if was.HBM.Known() && math.Abs(a.HBM.Value/c.Device.Peak.HBM.Value/(was.HBM.Value/plain.Peak.HBM.Value)-1) > 1e-12 {
			t.Errorf("HBM %+v, was %+v", a.HBM, was.HBM)
		}
		if a.Matrix[unit.BF16].Value != 60e12 || a.Matrix[unit.BF16].Scaled {
			t.Errorf("stated rate became %+v", a.Matrix[unit.BF16])
		}
		out, err := EncodeCluster(c, "")
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadCluster("x.yaml", out)
		if err != nil || again.Device.Achieved.Memory != a.Memory || again.Device.Achieved.HBM != a.HBM {
			t.Errorf("%v, read back %+v in\n%s", err, again, out)
		}
	}
	c, err := ReadCluster("x.yaml", []byte("device: h100\ngpus: 8\npeak: {bf16_tflops: 500}\n"))
	if err != nil || c.Device.Achieved.Matrix[unit.BF16].Value >= 500e12 {
		t.Errorf("a lower peak: %v", err)
	}
}

func TestBadClusterFile(t *testing.T) {
	const ok = "device: h100\ngpus: 16\n"
	for text, says := range map[string]string{
		"":                             "empty file",
		"gpus: 8\n":                    "device is missing",
		"device: h100\n":               "gpus is missing",
		"device: h10\ngpus: 8\n":       "x.yaml:1: device names an unknown GPU \"h10\": nearest are",
		"device: 7\ngpus: 8\n":         "device is \"7\"",
		"device: h100\ngpus: 0\n":      "gpus is \"0\": give 1 to",
		"device: h100\ngpus: eight\n":  "give a whole number",
		"device: h100\ngpus: 1e30\n":   "give a whole number",
		"device: h100\ngpus: 12\n":     "multiple of 8",
		ok + "gpu: 8\n":                `unknown key "gpu": nearest: gpus`,
		ok + "gpus: 8\n":               "gpus is given twice",
		ok + "node: {nic_gbps: 400}\n": "node has an unknown key",
		ok + "node: 8\n":               "not a mapping",
		ok + "node: {nic_gb_per_s_per_gpu: 400Gb/s}\n":            "give a plain number in GB/s",
		ok + "node: {nic_gb_per_s_per_gpu: -1}\n":                 "above 0",
		ok + "node: {nic_gb_per_s_per_gpu: .inf}\n":               "plain number",
		ok + "node: {nic_gb_per_s_per_gpu: .nan}\n":               "plain number",
		ok + "node: {nic_kind: carrier-pigeon}\n":                 "use one of infiniband",
		ok + "node: {shared_nic: maybe}\n":                        "give true or false",
		ok + "fabric: {oversubscription: 0.5}\n":                  "give 1 to 10000",
		ok + "achieved: {bf16_tflops: 5000}\n":                    "above its peak",
		ok + "achieved: {hbm_gb_per_s: &a 1}\ndevice: *a\n":       "given twice",
		"device: &a h100\ngpus: 8\nname: *a\n":                    "an alias (write the value out)",
		ok + "achieved: {hbm_gb_per_s: 1e-300}\n":                 "achieved.hbm_gb_per_s is \"1e-300\": give 0.001 to 1e+09 in GB/s",
		ok + "peak: {bf16_tflops: 1e300}\n":                       "peak.bf16_tflops is \"1e300\": give 0.001 to 1e+06 in TFLOP/s",
		ok + "peak: {memory_gb: {value: 1e7, source: x}}\n":       "peak.memory_gb.value is \"1e7\": give 0.001 to 1e+06 in GB",
		ok + "node: {nic_latency_us: 2e6}\n":                      "node.nic_latency_us is \"2e6\": give 0.001 to 1e+06 in us",
		ok + "gpu_mtbf_hours: 1e306\n":                            "in hours",
		ok + "power_w_per_gpu: 1e-9\n":                            "in W",
		ok + "price_usd_per_gpu_hour: 1e300\n":                    "in USD",
		ok + "fabric: {oversubscription: 1e300}\n":                "oversubscription is \"1e300\": give 1 to 10000, or",
		ok + "name: \"a\\x1b[2Jb\"\n":                             "name holds the control character U+001B: remove it",
		ok + "name: \"a\\u202eb\"\n":                              "U+202E",
		ok + "name: \"a\\nb\"\n":                                  "name is more than one line",
		ok + "notes: \"a\\x00\"\n":                                "notes holds the control character",
		ok + "price_usd_per_gpu_hour: $2\n":                       "plain number in USD",
		ok + "? [a, b]\n: c\n":                                    "not a plain word",
		"device: {name: x}\ngpus: 8\n":                            "device.arch is missing",
		"device: {name: x, arch: y, peak: {tdp_w: 1}}\ngpus: 8\n": "needs memory_gb and hbm_gb_per_s",
		ok + "\t- broken":                                         "x.yaml:",
		ok + "---\ngpus: 9\n":                                     "x.yaml:",
		strings.Repeat("#", maxFileBytes+1):                       "bytes: a machine file",
	} {
		_, err := ReadCluster("x.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60q: error %v, want one line with %q", text, err, says)
		}
	}
	if _, err := Cluster(t.TempDir() + "/.yaml"); err == nil {
		t.Error("a missing file passed")
	}
}

// Every embedded cluster is legal and of its file's name.
func TestClusters(t *testing.T) {
	files, err := clusterFiles.ReadDir("data/clusters")
	if err != nil {
		t.Fatal(err)
	}
	all := Clusters()
	if len(all) != len(files) {
		t.Fatalf("%d clusters of %d files", len(all), len(files))
	}
	for i, c := range all {
		if err := c.Validate(); err != nil || c.Name+".yaml" != files[i].Name() || c.Source == "" && c.Notes == "" {
			t.Errorf("%s in %s: %v", c.Name, files[i].Name(), err)
		}
		c.Device.Peak.HBM.Value = 1
		if mustCluster(t, c.Name).Device.Peak.HBM.Value == 1 {
			t.Errorf("%s changed with its copy", c.Name)
		}
	}
	if c := mustCluster(t, "aws-p5-h100"); c.Device.Achieved.NIC.Value != 42.5e9 || c.Node.NICKind != "efa" {
		t.Errorf("aws-p5-h100: %+v", c.Device.Achieved.NIC)
	}
}

func TestClone(t *testing.T) {
	c := mustCluster(t, "h800x16")
	d := c.Clone()
	d.Device.Peak.HBM.Value, d.Node.NIC.Value = 1, 1
	if c.Device.Peak.HBM.Value != 3350e9 || c.Node.NIC.Value != 50e9 {
		t.Error("the original changed with its copy")
	}
}

// checkCluster invariants hold for whatever is accepted.
func checkInvariants(t *testing.T, c *hw.Cluster) {
	t.Helper()
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if c.GPUs < 1 || c.GPUs > MaxGPUs || c.Nodes()*c.Node.GPUs < c.GPUs {
		t.Errorf("%d GPUs on %d nodes of %d", c.GPUs, c.Nodes(), c.Node.GPUs)
	}
	for _, q := range append(peakQuantities(&c.Device.Peak), achievedQuantities(&c.Device.Achieved)...) {
		if q.to.Known() && !(q.to.Value > 0) || !q.to.Known() && q.to.Value != 0 {
			t.Errorf("%s is %+v", q.key, *q.to)
		}
	}
}

func oneLiner(t *testing.T, err error) {
	t.Helper()
	if strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 600 {
		t.Errorf("not one short line: %q", err)
	}
}

func FuzzClusterSpec(f *testing.F) {
	for _, s := range []string{"h800x2048", "mi300xx8", "h100x0", "x", "gb200x73", "h100x-1", "deepseek-v3-h800", "H100X007"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if ext := strings.ToLower(filepath.Ext(s)); ext == ".yaml" || ext == ".yml" {
			t.Skip("names a file")
		}
		c, err := Cluster(s)
		if err != nil {
			oneLiner(t, err)
			return
		}
		checkInvariants(t, c)
	})
}

func FuzzClusterYAML(f *testing.F) {
	f.Add([]byte(ownCluster))
	f.Add([]byte("device: h100\ngpus: 16\npeak: {bf16_tflops: 900}\n"))
	f.Add([]byte("device: {name: x, arch: y, peak: {memory_gb: 1, hbm_gb_per_s: 1}}\ngpus: 1\n"))
	f.Add([]byte("a: &a [*a]\n"))
	f.Add([]byte("{\"device\": \"h20\", \"gpus\": 8, \"achieved\": {\"nic_gb_per_s\": {\"value\": 1}}}"))
	files, err := clusterFiles.ReadDir("data/clusters")
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range files {
		data, err := clusterFiles.ReadFile("data/clusters/" + e.Name())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ReadCluster("fuzz.yaml", data)
		if err != nil {
			oneLiner(t, err)
			return
		}
		checkInvariants(t, c)
	})
}

const cpuMachine = `
name: bench-host
device:
  name: two-cores
  arch: cpu
  peak: {source: probe, memory_gb: 25, hbm_gb_per_s: 13, fp32_tflops: 0.118, fp16_tflops: 0.118, bf16_tflops: 0.118, q8_0_tflops: 0.2}
  achieved: {source: probe, hbm_gb_per_s: 13, fp16_tflops: 0.1}
gpus: 1
node: {gpus: 1}
sustained_share: 0.9
engines:
  llamacpp:
    source: runs of one model
    step_us: 900
    sequence_us: 20
    decode_core_gflops: 5
    rates:
      - {weights: q8_0, rows: 1, gflops: 35}
      - {weights: q8_0, rows: 8, gflops: 40}
`

const runsMachine = `device: h200
gpus: 8
name: runs
engines:
  vllm:
    source: 40 runs
    step_us: 12
    sustained_share: 0.8
    prompt_us: 70
    request_us: 40000
    request_token_us: 2.5
    launch_share: 0.5
    arrival: 2
    admission_steps: 4
`

// Constants of whole runs come with a sustained share, and only within their bounds.
func TestWholeRunsOfAMachine(t *testing.T) {
	c, err := ReadCluster("runs.yaml", []byte(runsMachine))
	if err != nil {
		t.Fatal(err)
	}
	h := c.Device.Kernels.HostOf("vllm")
	if w := h.Whole; w == nil || w.Sustained != 0.8 || w.Quantise != 0 || w.Arrival != 2 || math.Abs(float64(w.Prompt)/70e-6-1) > 1e-12 || math.Abs(float64(w.Request)/40e-3-1) > 1e-12 {
		t.Errorf("%+v", h)
	}
	for text, says := range map[string]string{"    sustained_share: 0.8\n": "", "sustained_share: 0.8": "sustained_share: 1.2", "arrival: 2": "arrival: 20", "launch_share": "launch_part"} {
		if _, err := ReadCluster("runs.yaml", []byte(strings.Replace(runsMachine, text, says, 1))); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q for %q: %v", says, text, err)
		}
	}
}

// A calibrated machine file carries what engines did, on a copy of the constants.
func TestCalibratedMachine(t *testing.T) {
	c, err := ReadCluster("cpu.yaml", []byte(cpuMachine))
	if err != nil {
		t.Fatal(err)
	}
	k := c.Device.Kernels
	if !k.Vector || k.Sustained.Share != 0.9 || len(k.Engines) != 1 || len(k.Engines[0].Rows) != 2 || k.Engines[0].Rows[1].Rate != 40e9 {
		t.Errorf("constants %+v", k)
	}
	if h := k.HostOf("llamacpp"); !h.Known() || math.Abs(float64(h.Step)/900e-6-1) > 1e-12 {
		t.Errorf("host %+v", h)
	}
	if e := Kernels("cpu").Engines; len(e) != 1 || e[0].Host.Known() || len(e[0].Rows) != 0 {
		t.Error("the catalogue's constants changed")
	}
	for text, says := range map[string]string{
		"sustained_share: 0.9":               "sustained_share: 1.5",
		"weights: q8_0, rows: 1, gflops: 35": "weights: q9, rows: 1, gflops: 35",
		"rows: 8, gflops: 40":                "gflops: 40",
		"    source: runs of one model\n":    "",
		"gpus: 1\nnode":                      "kernels_file: none.json\ngpus: 1\nnode",
	} {
		if _, err := ReadCluster("cpu.yaml", []byte(strings.Replace(cpuMachine, text, says, 1))); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q for %q: error %v, want one line", says, text, err)
		}
	}
}
