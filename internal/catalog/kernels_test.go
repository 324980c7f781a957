package catalog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

func TestKernelFilesSurviveARoundTrip(t *testing.T) {
	for arch, k := range loadKernels() {
		data, err := EncodeKernels(k)
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeKernels(arch, data)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(k, again); d != "" {
			t.Errorf("%s: %s", arch, d)
		}
		if len(k.Fits) == 0 {
			t.Errorf("%s: constants without an origin", arch)
		}
	}
}

func TestEveryDeviceHasKernels(t *testing.T) {
	for _, d := range Devices() {
		if d.Kernels == nil {
			t.Errorf("%s has no kernel constants", d.Name)
		}
	}
	if k := Kernels("hopper"); k.Arch != "hopper" || !k.GEMM[unit.FP8Block].Known() || k.Attention == (hw.Attention{}) {
		t.Errorf("hopper's constants are those of %s", k.Arch)
	}
	if k := Kernels("no such generation"); k.Arch != generic {
		t.Errorf("an unknown generation gets %s, want generic", k.Arch)
	}
}

func TestKernelFilesAreReadStrictly(t *testing.T) {
	for why, data := range map[string]string{
		"unknown key":    `{"arch":"x","gemms":{},"fits":[]}`,
		"no arch":        `{"gemm":{},"fits":[]}`,
		"unknown format": `{"arch":"x","gemm":{"fp9":{}},"fits":[]}`,
		"share above 1":  `{"arch":"x","gemm":{"fp8":{"share":1.5}},"fits":[]}`,
		"negative":       `{"arch":"x","gemm":{"fp8":{"fill_k":-1}},"fits":[]}`,
		"blocks of one":  `{"arch":"x","gemm":{},"engines":[{"engine":"e","row_blocks":[{"weights":"q4_0","rows":1,"source":"s"}]}],"fits":[]}`,
		"cut short":      `{"arch":"x"`,
		"two documents":  `{"arch":"x","gemm":{},"fits":[]}{"arch":"y"}`,
	} {
		_, err := DecodeKernels("x.json", []byte(data))
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "x.json") {
			t.Errorf("%s: error %v, want one line that names the file", why, err)
		}
	}
}

// FuzzKernels looks for panics and for constants out of range.
func FuzzKernels(f *testing.F) {
	f.Add([]byte(`{"arch":"x","gemm":{"bf16":{"share":0.8,"launch_us":3}},"links":{"start_us":5},"fits":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := DecodeKernels("x.json", data)
		if err == nil && checkKernels(k) != nil {
			t.Fatal(checkKernels(k))
		}
	})
}
