package catalog

import (
	"encoding/json"
	"math"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

func mustDevice(t *testing.T, name string) *hw.Device {
	t.Helper()
	d, err := Device(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func mustCluster(t *testing.T, spec string) *hw.Cluster {
	t.Helper()
	c, err := Cluster(spec)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Every entry is JSON in a file of its name, and every figure has a grade, a
// source and a value.
func TestEntries(t *testing.T) {
	files, err := gpuFiles.ReadDir("data/gpus")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 45 {
		t.Errorf("%d devices, want at least 45", len(files))
	}
	for _, e := range files {
		data, err := gpuFiles.ReadFile(path.Join("data/gpus", e.Name()))
		if err != nil || !json.Valid(data) {
			t.Errorf("%s is no JSON: %v", e.Name(), err)
		}
		d, err := readGPU(e.Name(), data)
		if err != nil {
			t.Error(err)
			continue
		}
		if d.Name+".json" != e.Name() || d.Vendor == "" || d.Arch == "" {
			t.Errorf("%s holds %q of %q, %q", e.Name(), d.Name, d.Vendor, d.Arch)
		}
		checkFigures(t, d)
	}
}

func checkFigures(t *testing.T, d *hw.Device) {
	t.Helper()
	if !d.Peak.Memory.Known() {
		t.Errorf("%s has no memory", d.Name)
	}
	for _, q := range peakQuantities(&d.Peak) {
		if q.to.Known() && q.to.Grade != hw.Datasheet {
			t.Errorf("%s peak.%s is graded %v", d.Name, q.key, q.to.Grade)
		}
	}
	all := append(peakQuantities(&d.Peak), achievedQuantities(&d.Achieved)...)
	all = append(all, quantity{"nic", giga, &d.DefaultNode.NIC}, quantity{"latency", micro, &d.DefaultNode.NICLatency})
	for i := range d.Others {
		all = append(all, quantity{d.Others[i].Quantity, 1, &d.Others[i].Figure})
	}
	for _, q := range all {
		if q.to.Known() != (q.to.Value > 0) || q.to.Known() && q.to.Source == "" {
			t.Errorf("%s %s: value %g, grade %v, source %q", d.Name, q.key, q.to.Value, q.to.Grade, q.to.Source)
		}
	}
}

// T1: what an H800 reaches. Hugging Face, The Smol Training Playbook (2025) on
// the same die; arXiv:2412.19437 section 3.2.2; arXiv:2505.09343 section 2.
func TestH800Achieved(t *testing.T) {
	d := mustDevice(t, "h800")
	for _, c := range []struct {
		what           string
		achieved, peak hw.Figure
		want, share    float64 // share of peak in per cent, to one decimal; 0 = not published
	}{
		{"bf16", d.Achieved.Matrix[unit.BF16], d.Peak.Matrix[unit.BF16], 758e12, 76.6},
		{"fp8", d.Achieved.Matrix[unit.FP8], d.Peak.Matrix[unit.FP8], 1.46e15, 73.6},
		{"nvlink", d.Achieved.ScaleUp, d.Peak.ScaleUp, 160e9, 80},
		{"infiniband", d.Achieved.NIC, d.DefaultNode.NIC, 50e9, 100},
	} {
		if math.Abs(c.achieved.Value/c.want-1) > 0.003 {
			t.Errorf("%s reaches %g, want %g", c.what, c.achieved.Value, c.want)
		}
		if share := math.Round(1000*c.achieved.Value/c.peak.Value) / 10; share != c.share {
			t.Errorf("%s reaches %.1f %% of peak, want %.1f", c.what, share, c.share)
		}
	}
	if p := d.Peak.Matrix; p[unit.BF16].Value != 989e12 || p[unit.FP8].Value != 1979e12 || p[unit.FP8Block] != p[unit.FP8] {
		t.Errorf("peaks %v", p)
	}
}

// Names match in any case; short forms mean the SXM or usual card.
func TestAliases(t *testing.T) {
	for short, want := range map[string]string{
		"h100": "h100-sxm", "H800": "h800-sxm", "h200": "h200-sxm", "h20": "h20-96gb", "A100": "a100-sxm-80gb",
		"a100-80gb": "a100-sxm-80gb", "a100-40gb": "a100-sxm-40gb", "a800": "a800-sxm-80gb", "b200": "b200-sxm", "b300": "b300-sxm",
		"gb200": "gb200-nvl72", "GB300": "gb300-nvl72", "rtx-4090": "rtx-4090", "RTX-PRO-6000": "rtx-pro-6000-server",
		"mi300x": "mi300x", "v100": "v100-sxm2-32gb", "gh200": "gh200-96gb", "ascend-910b": "ascend-910b-376t",
	} {
		if d := mustDevice(t, short); d.Name != want {
			t.Errorf("%s is %s, want %s", short, d.Name, want)
		}
	}
}

func TestUnknownDevice(t *testing.T) {
	for name, says := range map[string]string{
		"h10":                      "h100",
		"h1000":                    "h100",
		"rtx4900":                  "rtx-4090",
		"mi300":                    "mi300x",
		"qqqqqqqqqqqq":             "`ridgeline gpus` lists all",
		"":                         "`ridgeline gpus` lists all",
		strings.Repeat("h", 1<<20): "lists all",
	} {
		_, err := Device(name)
		if err == nil || !strings.Contains(err.Error(), says) || len(err.Error()) > 300 {
			t.Errorf("%.20q: %v, want one short line with %q", name, err, says)
		}
	}
}

// Default machines of the outside contract: GPUs in a domain, GB/s per GPU.
func TestDefaultNodes(t *testing.T) {
	for _, c := range []struct {
		name   string
		domain int64
		nic    float64
		shared bool
	}{
		{"a100", 8, 25, false}, {"a100-40gb", 8, 25, false}, {"a800", 8, 25, false},
		{"h100", 8, 50, false}, {"h800", 8, 50, false}, {"h200", 8, 50, false}, {"h20", 8, 50, false}, {"b200", 8, 50, false},
		{"b300", 8, 100, false}, {"gb200", 72, 50, false}, {"gb300", 72, 100, false},
		{"rtx-3090", 8, 12.5 / 8, true}, {"rtx-4090", 8, 12.5 / 8, true}, {"rtx-5090", 8, 12.5 / 8, true},
	} {
		d := mustDevice(t, c.name)
		n := d.DefaultNode
		if n.GPUs != c.domain || n.NIC.Value != c.nic*1e9 || n.SharedNIC != c.shared {
			t.Errorf("%s: %d GPUs, NIC %g, shared %v; want %d, %g GB/s, %v", c.name, n.GPUs, n.NIC.Value, n.SharedNIC, c.domain, c.nic, c.shared)
		}
		if c.shared != (n.ScaleUpKind == "pcie") || c.shared == d.DefaultFabric.Rails {
			t.Errorf("%s: links by %s, rails %v", c.name, n.ScaleUpKind, d.DefaultFabric.Rails)
		}
		if n.NICKind == "infiniband" && n.NICLatency.Value != 3.7e-6 {
			t.Errorf("%s: InfiniBand latency %g, want 3.7 us (arXiv:2505.09343)", c.name, n.NICLatency.Value)
		}
	}
}

// A copy can be changed without changing the catalogue.
func TestDeviceIsCopy(t *testing.T) {
	d := mustDevice(t, "h800")
	d.Peak.HBM.Value = 1
	d.Aliases[0] = "changed"
	d.Others[0].Figure.Value = 1
	again := mustDevice(t, "h800")
	if again.Peak.HBM.Value != 3350e9 || slices.Contains(again.Aliases, "changed") || again.Others[0].Figure.Value == 1 {
		t.Error("the catalogue changed with its copy")
	}
}

// An entry whose achieved rate passes its peak does not load.
func TestAchievedAbovePeak(t *testing.T) {
	const entry = `{"name": "x", "arch": "y", "peak": {"source": "s", "memory_gb": 1, "hbm_gb_per_s": 100}, "achieved": {"hbm_gb_per_s": {"value": 101, "source": "s"}}}`
	if _, err := readGPU("x.json", []byte(entry)); err == nil || !strings.Contains(err.Error(), "above its peak") {
		t.Errorf("error %v", err)
	}
}

// Broken entries name file, line, key and mend.
func TestBadEntry(t *testing.T) {
	for entry, says := range map[string]string{
		`{"name": "x", "arch": "y", "peak": {"memory_gb": 80}}`:                                "x.json:1: peak.memory_gb has no source",
		`{"name": "x", "arch": "y", "peak": {"source": "s", "memory_gib": 80}}`:                `unknown key "memory_gib": nearest: memory_gb`,
		`{"name": "x", "arch": "y", "peak": {"source": "s", "memory_gb": 0}}`:                  "leave the key out if it is not known",
		`{"name": "x", "arch": "y", "peak": {"source": "s", "memory_gb": "80 GB"}}`:            "give a plain number in GB",
		`{"name": "x", "arch": "y", "achieved": {"hbm_gb_per_s": {"source": "s"}}}`:            "achieved.hbm_gb_per_s.value is missing",
		`{"name": "x", "arch": "y", "achieved": {"hbm_gb_per_s": {"value": 1}}}`:               "achieved.hbm_gb_per_s.source is missing",
		`{"name": "x", "arch": "y", "others": [{"figure": "hbm", "value": 1, "source": "s"}]}`: "name the quantity with its unit",
		`{"name": "x", "name": "y"}`: "given twice",
		`{"arch": "y"}`:              "name is missing",
		`[1]`:                        "not a mapping",
	} {
		if _, err := readGPU("x.json", []byte(entry)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v, want %q", entry, err, says)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		name string
		want []string
	}{
		{"h10", []string{"h100", "h200"}},
		{"deepsek-v3", []string{"deepseek-v3"}},
		{"zzzzzzzz", nil},
	} {
		if got := nearest(c.name, []string{"h200", "deepseek-v3", "h100"}); !slices.Equal(got, c.want) {
			t.Errorf("nearest to %q: %q, want %q", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "abc", 3}, {"kitten", "sitting", 3}, {"4900", "4090", 1}, {"same", "same", 0}} {
		if got := editDistance(c.a, c.b); got != c.want || editDistance(c.b, c.a) != c.want {
			t.Errorf("distance of %q and %q is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// Fact I2: ridge points. RTX 4090: 82.6 TFLOP/s FP16 against 1.01 TB/s; that is the
// figure of the shader cores, the tensor cores lie at twice it.
func TestRidges(t *testing.T) {
	d := mustDevice(t, "rtx-4090")
	if got := d.Ridge(unit.FP16); math.Abs(got/(2*82.6/1.01)-1) > 0.01 {
		t.Errorf("rtx-4090: %g FLOP per byte", got)
	}
	known := 0
	for _, d := range Devices() {
		if d.Ridge(unit.BF16) > 0 {
			known++
		}
	}
	if known < 20 {
		t.Errorf("%d devices have a BF16 ridge, want most of the catalogue", known)
	}
}

// Tables, tools and nvidia-smi write one GPU in many ways.
func TestDeviceSpellings(t *testing.T) {
	for name, want := range map[string]string{
		"H100": "h100-sxm", "NVIDIA H100 80GB HBM3": "h100-sxm", "h100_sxm": "h100-sxm", "H100 NVL": "h100-nvl", "H100-PCIe": "h100-pcie",
		"a100_sxm": "a100-sxm-80gb", "NVIDIA A100-SXM4-40GB": "a100-sxm-40gb", "gb200_nvl72": "gb200-nvl72", "NVIDIA GeForce RTX 4090": "rtx-4090",
		"RTX PRO 6000": "rtx-pro-6000-server", "AMD Instinct MI300X": "mi300x", "Gaudi 3": "gaudi3", "TPU v6e": "tpu-v6e", "NVIDIA L40S": "l40s",
	} {
		if d, err := Device(name); err != nil || d.Name != want {
			t.Errorf("%q: %v, %v, want %s", name, d, err, want)
		}
	}
	for _, name := range []string{"", " ", "nvidia", "amd", "h", "h1000", "sxm"} {
		if d, err := Device(name); err == nil {
			t.Errorf("%q is taken for %s", name, d.Name)
		}
	}
}
