//go:build amd64 || arm64

package probe

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ebitengine/purego"

	"github.com/ridgeline/ridgeline/internal/record"
)

// standin builds the stand-in libraries and names them for a probe.
func standin(t *testing.T) (g GPU, calls func(string) int32, damage func(int32)) {
	t.Helper()
	g, calls, damage, _, _ = standinFP8(t)
	return g, calls, damage
}

func standinFP8(t *testing.T) (g GPU, calls func(string) int32, damage, without func(int32), alive func() int32) {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler for the stand-in libraries")
	}
	file := filepath.Join(t.TempDir(), "libstandin.so")
	if out, err := exec.Command(cc, "-shared", "-fPIC", "-O2", "-o", file, "testdata/standin.c", "-lm").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	h, err := purego.Dlopen(file, purego.RTLD_NOW)
	if err != nil {
		t.Fatal(err)
	}
	purego.RegisterLibFunc(&calls, h, "standin_calls")
	purego.RegisterLibFunc(&damage, h, "standin_break")
	purego.RegisterLibFunc(&without, h, "standin_without_fp8")
	purego.RegisterLibFunc(&alive, h, "standin_alive")
	g = GPU{Size: 48, Bytes: 64 << 10, Repeats: 2, Libraries: map[string]string{"cuda": file, "cublas": file, "cublasLt": file, "nvml": file, "nccl": file}}
	if _, err := g.load("ffi"); err != nil {
		t.Skip("no libffi, through which cublasGemmEx is called: ", err)
	}
	return g, calls, damage, without, alive
}

func TestGPUProbe(t *testing.T) {
	g, calls, _, _, alive := standinFP8(t)
	rec := New("test", "test")
	if err := g.Run(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	if len(rec.Notes) > 0 || rec.Partial {
		t.Errorf("notes %q", rec.Notes)
	}
	if err := rec.Check("gpu"); err != nil {
		t.Error(err)
	}
	n := map[string]int{}
	for _, r := range rec.Results {
		n[r.Kind+" "+r.What+" "+r.Data]++
		if r.PowerW != 650.5 || r.ClockHz != 1707e6 && r.ClockHz != 1708e6 || r.Repeats != 2 {
			t.Errorf("%+v: how it was made is missing", r)
		}
	}
	// 4 precisions, and FP8 in two ways, on 2 GPUs; sizes 8 and 64 KiB.
	for what, want := range map[string]int{"gemm gemm zeros": 12, "gemm gemm random": 12, "copy device ": 2, "copy host-to-device ": 2, "copy device-to-host ": 2,
		"copy device-to-device ": 1, "collective all-reduce ": 2, "collective all-gather ": 2, "collective reduce-scatter ": 2} {
		if n[what] != want {
			t.Errorf("%d results of %q, want %d", n[what], what, want)
		}
	}
	// Each measurement: one call to warm up, two repeats, one while clocks are read.
	for name, want := range map[string]int32{"cublasGemmEx": 16 * 4, "cublasLtMatmul": 8 * 4, "cublasLtMatmul fast": 4 * 4, "cuMemcpyDtoD_v2": 2 * 4, "cuMemcpyPeer": 4, "ncclAllReduce": 2 * 4 * 2, "ncclAllGather": 2 * 4 * 2,
		"cuCtxEnablePeerAccess": 1, "ncclCommDestroy": 2, "nvmlDeviceGetPowerUsage": int32(len(rec.Results))} {
		if got := calls(name); got != want {
			t.Errorf("%d calls of %s, want %d", got, name, want)
		}
	}
	if n := alive(); n != 0 {
		t.Errorf("%d objects of cuBLASLt were not given back", n)
	}
	if a, b := calls("cuMemAlloc_v2"), calls("cuMemFree_v2"); a != b {
		t.Errorf("%d buffers, %d freed", a, b)
	}
	m := &rec.Machine
	if m.Driver != "575.0" || strings.Join(m.GPUs, ",") != "Stand-in A,Stand-in B" || strings.Join(m.Libraries, ",") != "CUDA driver API 12.8,NCCL 22705" {
		t.Errorf("machine %+v", m)
	}
}

// A product that is not the product is no measurement.
func TestWrongProductsAreNotMeasured(t *testing.T) {
	g, _, damage := standin(t)
	damage(1)
	rec := New("test", "test")
	if err := g.Run(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	if len(rec.Notes) != 2 || !strings.Contains(rec.Notes[0], "product is wrong") || !strings.Contains(rec.Notes[1], "fp8 product is wrong") {
		t.Errorf("notes %q", rec.Notes)
	}
	for _, r := range rec.Results {
		if r.Kind == record.GEMM {
			t.Errorf("%+v is kept", r)
		}
	}
}

// GPUs before Ada have no FP8: the rest is measured all the same.
func TestGPUWithoutFP8(t *testing.T) {
	g, _, _, without, alive := standinFP8(t)
	without(1)
	rec := New("test", "test")
	if err := g.Run(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	if len(rec.Notes) != 1 || !strings.Contains(rec.Notes[0], "FP8 products not measured: gpu0: the GPU or the library has no FP8 product") || alive() != 0 {
		t.Errorf("notes %q, %d objects left", rec.Notes, alive())
	}
	g.Size = 40 // no multiple of 16
	if rec = New("test", "test"); g.Run(t.Context(), rec) != nil || len(rec.Notes) != 1 || !strings.Contains(rec.Notes[0], "multiple of 16") {
		t.Errorf("notes %q", rec.Notes)
	}
}

func TestE4M3(t *testing.T) {
	for v, want := range map[float32]byte{0: 0, 0.125: 0x20, -0.125: 0xa0, 0.875: 0x36, -0.625: 0xb2, 0.5: 0x30, 0.375: 0x2c} {
		var b [1]byte
		if e4m3(b[:], v); b[0] != want {
			t.Errorf("%g is %#x, want %#x", v, b[0], want)
		}
	}
}

func TestMissingLibraries(t *testing.T) {
	g, _, _ := standin(t)
	g.Libraries["nccl"], g.Libraries["nvml"] = "/nowhere/libnccl.so", "/nowhere/libnvml.so"
	rec := New("test", "test")
	if err := g.Run(t.Context(), rec); err != nil || len(rec.Notes) != 2 {
		t.Errorf("error %v, notes %q", err, rec.Notes)
	}
	g.Libraries["cuda"] = "/nowhere/libcuda.so"
	if err := g.Run(t.Context(), rec); err == nil || !strings.Contains(err.Error(), "no NVIDIA driver") {
		t.Errorf("error %v", err)
	}
}

func TestInterruptedGPUProbe(t *testing.T) {
	g, _, _ := standin(t)
	ctx, cancel := context.WithCancel(t.Context())
	g.Done = func(int, int) { cancel() }
	rec := New("test", "test")
	if err := g.Run(ctx, rec); err != nil || !rec.Partial || len(rec.Results) != 16 {
		t.Errorf("error %v, partial %v, %d results: want the products", err, rec.Partial, len(rec.Results))
	}
}
