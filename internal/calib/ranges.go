package calib

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// Range is how far measured times lie from predicted ones: of ten rows one is below Low
// times the prediction and one above High times.
type Range struct {
	Arch   string  `json:"arch"`
	Engine string  `json:"engine"`
	Kind   string  `json:"kind"`
	Kernel string  `json:"kernel,omitempty"` // of products and experts: format and kernel
	Rows   int     `json:"rows"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

//go:embed ranges.json
var rangesFile []byte

// unmeasured is the range of kernels that nobody measured on a GPU's generation: between the
// tenths of the A100's and the B200's rows, each predicted from the other generations
// (TestLeaveOneGPUOut).
var unmeasured = Range{Low: 0.72, High: 2.4}

var ranges = sync.OnceValue(func() map[Range]Range {
	var list []Range
	if err := json.Unmarshal(rangesFile, &list); err != nil {
		panic("calib: ranges.json: " + err.Error()) // embedded, and read by a test
	}
	out := map[Range]Range{}
	for _, r := range list {
		out[r.key()] = r
	}
	return out
})

func (r Range) key() Range {
	r.Rows, r.Low, r.High = 0, 0, 0
	return r
}

// rangeOf is the range of a row: its kernel's, its kind's, or that of an unmeasured one.
func rangeOf(arch, engine string, k *kind, c *cells, i int) Range {
	key := Range{Arch: arch, Engine: engine, Kind: k.name, Kernel: kernelName(k, c, i)}
	for _, kernel := range [...]string{key.Kernel, ""} {
		key.Kernel = kernel
		if r, ok := ranges()[key]; ok {
			return r
		}
	}
	return unmeasured
}

// kernelName tells products and experts apart by their format and kernel.
func kernelName(k *kind, c *cells, i int) string {
	switch k {
	case gemmKind:
		return c.is("gemm_dtype", i) + " " + c.is("kernel_source", i)
	case moeKind:
		return c.is("moe_dtype", i) + " " + c.is("kernel_source", i)
	}
	return ""
}
