package catalog

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// The form of hw.Engine and hw.Exchange with units spelled in the keys.
type engineFile struct {
	Name          string       `json:"engine"`
	Context       *coreFile    `json:"context,omitempty"`
	Context8      *coreFile    `json:"context_8bit,omitempty"`
	MLA           *coreFile    `json:"mla,omitempty"`
	Decode        *decodeFile  `json:"decode,omitempty"`
	Latent        *decodeFile  `json:"latent_decode,omitempty"`
	MoE           []moeFile    `json:"moe,omitempty"`
	AllReduce     *oneShotFile `json:"all_reduce,omitempty"`
	ModuleContext float64      `json:"mla_context_module_us,omitempty"`
	ModuleDecode  float64      `json:"mla_decode_module_us,omitempty"`
}

type decodeFile struct {
	Share    float64 `json:"share"`
	Pad      float64 `json:"pad_rows"`
	Memory   float64 `json:"memory_share"`
	Cache8   float64 `json:"cache_8bit_share"`
	Reach    float64 `json:"reach"`
	Split    float64 `json:"split_keys"`
	Item     float64 `json:"item_us"`
	Join     float64 `json:"join_us"`
	Overlap  float64 `json:"overlap"`
	Launch   float64 `json:"launch_us"`
	Near     float64 `json:"near_mb"`
	NearRate float64 `json:"near_rate"`
}

type moeFile struct {
	Kernel  string `json:"kernel,omitempty"`
	Weights string `json:"weights"`
	Product string `json:"product"`
	productFile
	Passes float64 `json:"passes"`
	Expert float64 `json:"expert_ns"`
}

type oneShotFile struct {
	Start float64 `json:"start_us"`
	Rank  float64 `json:"rank_us"`
	Pass  float64 `json:"pass_us"`
	Share float64 `json:"share"`
	Most  float64 `json:"most_mb,omitempty"`
	Eager float64 `json:"eager_us,omitempty"`
}

type exchangeFile struct {
	Start [2]float64 `json:"start_us"`
	Share [2]float64 `json:"share"`
	PerSM [2]float64 `json:"share_per_sm,omitzero"`
}

func (f *engineFile) engine() (hw.Engine, error) {
	e := hw.Engine{Name: f.Name, Context: f.Context.constants(), Context8: f.Context8.constants(), MLA: f.MLA.constants(),
		Decode: f.Decode.constants(), Latent: f.Latent.constants(), AllReduce: f.AllReduce.constants(),
		ModuleContext: scaled(f.ModuleContext, -6), ModuleDecode: scaled(f.ModuleDecode, -6)}
	if f.Name == "" {
		return e, fmt.Errorf("engines: an engine has no name: name it")
	}
	for _, x := range f.MoE {
		weights, ok := unit.ParseFormat(x.Weights)
		product, ok2 := unit.ParseFormat(x.Product)
		if !ok || !ok2 {
			return e, fmt.Errorf("engines: %s: moe: unknown format among %q and %q", f.Name, x.Weights, x.Product)
		}
		e.MoE = append(e.MoE, hw.MoE{Kernel: x.Kernel, Weights: weights, Product: product, GEMM: x.constants(), Passes: x.Passes, Expert: scaled(x.Expert, -9)})
	}
	return e, nil
}

func engineOf(e *hw.Engine) engineFile {
	f := engineFile{Name: e.Name, Context: coreOf(&e.Context), Context8: coreOf(&e.Context8), MLA: coreOf(&e.MLA),
		Decode: decodeOf(&e.Decode), Latent: decodeOf(&e.Latent), ModuleContext: in(e.ModuleContext, 6), ModuleDecode: in(e.ModuleDecode, 6)}
	if o := &e.AllReduce; o.Known() {
		f.AllReduce = &oneShotFile{in(o.Start, 6), in(o.Rank, 6), in(o.Pass, 6), digits(o.Share), digits(float64(o.Most) / 1e6), in(o.Eager, 6)}
	}
	for i := range e.MoE {
		x := &e.MoE[i]
		f.MoE = append(f.MoE, moeFile{Kernel: x.Kernel, Weights: x.Weights.String(), Product: x.Product.String(), productFile: productOf(&x.GEMM), Passes: digits(x.Passes), Expert: in(x.Expert, 9)})
	}
	return f
}

func (f *decodeFile) constants() hw.Decode {
	if f == nil {
		return hw.Decode{}
	}
	return hw.Decode{Share: f.Share, Pad: f.Pad, Memory: f.Memory, Cache8: f.Cache8, Reach: f.Reach, Split: f.Split,
		Item: scaled(f.Item, -6), Join: scaled(f.Join, -6), Overlap: f.Overlap, Launch: scaled(f.Launch, -6),
		Near: megabytes(f.Near), NearRate: f.NearRate}
}

func decodeOf(d *hw.Decode) *decodeFile {
	if !d.Known() {
		return nil
	}
	return &decodeFile{digits(d.Share), digits(d.Pad), digits(d.Memory), digits(d.Cache8), digits(d.Reach), digits(d.Split),
		in(d.Item, 6), in(d.Join, 6), digits(d.Overlap), in(d.Launch, 6), digits(float64(d.Near) / 1e6), digits(d.NearRate)}
}

func (f *oneShotFile) constants() hw.OneShot {
	if f == nil {
		return hw.OneShot{}
	}
	return hw.OneShot{Start: scaled(f.Start, -6), Rank: scaled(f.Rank, -6), Pass: scaled(f.Pass, -6), Share: f.Share,
		Most: megabytes(f.Most), Eager: scaled(f.Eager, -6)}
}

func (f *exchangeFile) constants() hw.Exchange {
	if f == nil {
		return hw.Exchange{}
	}
	return hw.Exchange{Start: [2]unit.Seconds{scaled(f.Start[0], -6), scaled(f.Start[1], -6)}, Share: f.Share, PerSM: f.PerSM}
}

func exchangeOf(x *hw.Exchange) *exchangeFile {
	if !x.Known() {
		return nil
	}
	return &exchangeFile{Start: [2]float64{in(x.Start[0], 6), in(x.Start[1], 6)}, Share: [2]float64{digits(x.Share[0]), digits(x.Share[1])},
		PerSM: [2]float64{digits(x.PerSM[0]), digits(x.PerSM[1])}}
}

// megabytes is v MB in whole bytes.
func megabytes(v float64) unit.Bytes { return unit.Bytes(v*1e6 + 0.5) }
