package catalog

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"sync"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

//go:embed data/kernels/*.json
var kernelFiles embed.FS

// generic names the constants of generations without measurements: the means of
// those that have some, without their shares of the peak.
const generic = "generic"

// Kernels gives the fitted constants of a GPU generation, or the generic ones,
// which say so in their Arch. They are shared: do not change them.
func Kernels(arch string) *hw.Kernels {
	if k := loadKernels()[hw.Generation(arch)]; k != nil {
		return k
	}
	return loadKernels()[generic]
}

// loadKernels decodes the embedded files once; the tests rule out a broken one.
var loadKernels = sync.OnceValue(func() map[string]*hw.Kernels {
	out := map[string]*hw.Kernels{}
	entries, err := kernelFiles.ReadDir("data/kernels")
	if err != nil {
		panic("catalog: " + err.Error())
	}
	for _, e := range entries {
		data, err := kernelFiles.ReadFile(path.Join("data/kernels", e.Name()))
		if err != nil {
			panic("catalog: " + err.Error())
		}
		k, err := DecodeKernels(e.Name(), data)
		if err != nil {
			panic("catalog: " + err.Error())
		}
		out[k.Arch] = k
	}
	if err := addStandIns(out); err != nil {
		panic("catalog: " + err.Error())
	}
	return out
})

// The files' form: hw.Kernels with units spelled in the keys.
type kernelsFile struct {
	Arch      string                 `json:"arch"`
	Vector    bool                   `json:"vector,omitempty"`
	Devices   []string               `json:"measured_on,omitempty"`
	SMPeak    float64                `json:"sm_tflops,omitempty"`
	GEMM      map[string]productFile `json:"gemm"`
	Attention *coreFile              `json:"attention,omitempty"`
	MLA       *coreFile              `json:"mla,omitempty"`
	Links     *linksFile             `json:"links,omitempty"`
	Sustained *sustainedFile         `json:"sustained,omitempty"`
	Overheads []overheadFile         `json:"engine_overheads,omitempty"`
	Engines   []engineFile           `json:"engines,omitempty"`
	Exchange  *exchangeFile          `json:"expert_exchange,omitempty"`
	Low       *exchangeFile          `json:"expert_exchange_low_latency,omitempty"`
	Fits      []fitFile              `json:"fits"`
}

type productFile struct {
	Share   float64 `json:"share"`
	Fill    float64 `json:"fill_k"`
	Edge    float64 `json:"edge"`
	Quant   float64 `json:"quant"`
	Overlap float64 `json:"overlap"`
	Memory  float64 `json:"memory_share"`
	Launch  float64 `json:"launch_us"`
	Step    float64 `json:"step_ns,omitempty"`
	Tiling  string  `json:"tiling,omitempty"`
	Join    float64 `json:"join_us,omitempty"`
	Partial float64 `json:"partial,omitempty"`
	Grouped float64 `json:"grouped_share,omitempty"`
}

type coreFile struct {
	Share  [hw.NumHeadDims]float64 `json:"share_by_head_dim"`
	Fill   float64                 `json:"fill_keys"`
	Tail   float64                 `json:"tail"`
	Stream float64                 `json:"stream_passes"`
	Item   float64                 `json:"item_us,omitempty"`
	Launch float64                 `json:"launch_us"`
}

type linksFile struct {
	Start  float64 `json:"start_us"`
	Hop    float64 `json:"hop_us"`
	Pair   float64 `json:"pair_us"`
	Chunk  float64 `json:"chunk_us"`
	Own    float64 `json:"own"`
	Switch float64 `json:"switch_us,omitempty"`
}

type sustainedFile struct {
	Share   float64           `json:"share"`
	Assumed bool              `json:"assumed,omitempty"`
	Devices []deviceShareFile `json:"devices,omitempty"`
}

type deviceShareFile struct {
	Device    string     `json:"device"`
	Share     float64    `json:"share"`
	PerWatt   float64    `json:"gflops_per_watt"`
	Rows      int        `json:"rows_fitted"`
	Sources   []string   `json:"sources"`
	Quartiles [2]float64 `json:"quartiles"`
}

type overheadFile struct {
	Engine     string  `json:"engine"`
	What       string  `json:"what"`
	Fixed      float64 `json:"fixed_us"`
	PerRow     float64 `json:"per_row_ns"`
	PerElement float64 `json:"per_element_ps"`
	Passes     float64 `json:"passes"`
	Host       float64 `json:"host_us"`
}

type fitFile struct {
	What   string   `json:"what"`
	Tables []string `json:"tables"`
	Rows   int      `json:"rows_fitted"`
	Median float64  `json:"median_error_held_out"`
	Mean   float64  `json:"mean_error_held_out"`
}

// DecodeKernels reads one constants file strictly.
func DecodeKernels(file string, data []byte) (*hw.Kernels, error) {
	var f kernelsFile
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("%s: %s", file, oneLine(err))
	}
	if d.More() {
		return nil, fmt.Errorf("%s: text after the closing brace: keep one document", file)
	}
	k := &hw.Kernels{Arch: f.Arch, Vector: f.Vector, Devices: f.Devices, SMPeak: f.SMPeak * 1e12}
	for name, g := range f.GEMM {
		format, ok := unit.ParseFormat(name)
		if !ok {
			return nil, fmt.Errorf("%s: gemm: unknown format %q", file, name)
		}
		var err error
		if k.GEMM[format], err = g.constants(); err != nil {
			return nil, fmt.Errorf("%s: gemm %s: %w", file, name, err)
		}
	}
	k.Attention, k.MLA = f.Attention.constants(), f.MLA.constants()
	if l := f.Links; l != nil {
		k.Links = hw.Links{Start: scaled(l.Start, -6), Hop: scaled(l.Hop, -6), Pair: scaled(l.Pair, -6), Chunk: scaled(l.Chunk, -6), Own: l.Own, Switch: scaled(l.Switch, -6)}
	}
	if s := f.Sustained; s != nil {
		k.Sustained = hw.Sustained{Share: s.Share, Assumed: s.Assumed}
		for _, d := range s.Devices {
			own := hw.DeviceShare(d)
			own.PerWatt *= giga
			k.Sustained.Devices = append(k.Sustained.Devices, own)
		}
	}
	for _, o := range f.Overheads {
		k.Overheads = append(k.Overheads, hw.Overhead{Engine: o.Engine, What: o.What, Fixed: scaled(o.Fixed, -6),
			PerRow: scaled(o.PerRow, -9), PerElement: scaled(o.PerElement, -12), Passes: o.Passes, Host: scaled(o.Host, -6)})
	}
	for i := range f.Engines {
		e, err := f.Engines[i].engine()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		k.Engines = append(k.Engines, e)
	}
	k.Exchange, k.LowLatency = f.Exchange.constants(), f.Low.constants()
	for _, t := range f.Fits {
		k.Fits = append(k.Fits, hw.Fit(t))
	}
	if err := checkKernels(k); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return k, nil
}

func (g productFile) constants() (hw.GEMM, error) {
	tiling, ok := hw.ParseTiling(g.Tiling)
	if !ok {
		return hw.GEMM{}, fmt.Errorf("unknown tiling %q: give whole-k, split-k or by-rows", g.Tiling)
	}
	return hw.GEMM{Share: g.Share, Fill: g.Fill, Edge: g.Edge, Quant: g.Quant, Overlap: g.Overlap, Memory: g.Memory, Launch: scaled(g.Launch, -6),
		Step: scaled(g.Step, -9), Tiling: tiling, Join: scaled(g.Join, -6), Partial: g.Partial, Grouped: g.Grouped}, nil
}

func (a *coreFile) constants() hw.Attention {
	if a == nil {
		return hw.Attention{}
	}
	return hw.Attention{Share: a.Share, Fill: a.Fill, Tail: a.Tail, Stream: a.Stream, Item: scaled(a.Item, -6), Launch: scaled(a.Launch, -6)}
}

// scaled is v x 10^exp seconds.
func scaled(v float64, exp int) unit.Seconds { return unit.Seconds(v * math.Pow10(exp)) }
