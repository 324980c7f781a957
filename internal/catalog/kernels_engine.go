package catalog

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// The form of hw.Engine and hw.Exchange with units spelled in the keys.
type engineFile struct {
	Name      string                    `json:"engine"`
	Context   [hw.NumOperands]*coreFile `json:"context_by_operands,omitzero"`
	MLA       [hw.NumOperands]*coreFile `json:"mla_by_operands,omitzero"`
	Decode    [hw.NumCaches]*decodeFile `json:"decode_by_cache,omitzero"`
	Latent    [hw.NumCaches]*decodeFile `json:"latent_decode_by_cache,omitzero"`
	GEMM      []engineProductFile       `json:"gemm,omitempty"`
	MoE       []engineProductFile       `json:"moe,omitempty"`
	AllReduce *oneShotFile              `json:"all_reduce,omitempty"`
	Module    [hw.NumModules]moduleFile `json:"mla_modules,omitzero"`
	Blocks    []blockFile               `json:"row_blocks,omitempty"`
}

// blockFile is hw.RowBlock.
type blockFile struct {
	Weights string `json:"weights"`
	Rows    int64  `json:"rows"`
	Source  string `json:"source"`
}

// moduleFile is hw.Module.
type moduleFile struct {
	Rest float64 `json:"rest_us"`
	Host float64 `json:"host_us"`
}

type decodeFile struct {
	Share     float64                 `json:"share"`
	Pad       float64                 `json:"pad_rows"`
	Memory    [hw.NumHeadDims]float64 `json:"memory_share_by_head_dim"`
	Reach     float64                 `json:"reach"`
	Split     float64                 `json:"split_keys"`
	Item      float64                 `json:"item_us"`
	Join      float64                 `json:"join_us"`
	Overlap   float64                 `json:"overlap"`
	Launch    float64                 `json:"launch_us"`
	Group     float64                 `json:"group,omitempty"`
	GroupRate float64                 `json:"group_rate,omitempty"`
	Near      float64                 `json:"near_mb"`
	NearRate  float64                 `json:"near_rate"`
}

type engineProductFile struct {
	Kernel  string `json:"kernel,omitempty"`
	Weights string `json:"weights"`
	Product string `json:"product"`
	productFile
	PerRow     float64 `json:"per_row_ns,omitempty"`
	PerElement float64 `json:"per_element_ps,omitempty"`
	Host       float64 `json:"host_us,omitempty"`
	Passes     float64 `json:"passes,omitempty"`
	Others     float64 `json:"others_passes,omitempty"`
	Expert     float64 `json:"expert_ns,omitempty"`
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
	e := hw.Engine{Name: f.Name, AllReduce: f.AllReduce.constants()}
	if f.Name == "" {
		return e, fmt.Errorf("engines: an engine has no name: name it")
	}
	for i := range f.Context {
		e.Context[i], e.MLA[i] = f.Context[i].constants(), f.MLA[i].constants()
	}
	for i := range f.Decode {
		e.Decode[i], e.Latent[i] = f.Decode[i].constants(), f.Latent[i].constants()
	}
	for i, m := range f.Module {
		e.Module[i] = hw.Module{Rest: scaled(m.Rest, -6), Host: scaled(m.Host, -6)}
	}
	for _, b := range f.Blocks {
		weights, known := unit.ParseFormat(b.Weights)
		if !known || b.Rows < 2 || b.Source == "" {
			return e, fmt.Errorf("engines: %s: row_blocks: %+v: give weights of a known format, rows from 2 and a source", f.Name, b)
		}
		e.Blocks = append(e.Blocks, hw.RowBlock{Format: weights, Rows: b.Rows, Source: b.Source})
	}
	var err error
	if e.GEMM, err = products(f.GEMM); err == nil {
		e.MoE, err = products(f.MoE)
	}
	if err != nil {
		err = fmt.Errorf("engines: %s: %w", f.Name, err)
	}
	return e, err
}

func products(list []engineProductFile) ([]hw.Product, error) {
	var out []hw.Product
	for _, x := range list {
		weights, known := unit.ParseFormat(x.Weights)
		product, known2 := unit.ParseFormat(x.Product)
		if !known || !known2 {
			return nil, fmt.Errorf("unknown format among %q and %q", x.Weights, x.Product)
		}
		g, err := x.constants()
		if err != nil {
			return nil, err
		}
		out = append(out, hw.Product{Kernel: x.Kernel, Weights: weights, Format: product, GEMM: g, PerRow: scaled(x.PerRow, -9),
			PerElement: scaled(x.PerElement, -12), Host: scaled(x.Host, -6), Passes: x.Passes, Others: x.Others, Expert: scaled(x.Expert, -9)})
	}
	return out, nil
}

func engineOf(e *hw.Engine) engineFile {
	f := engineFile{Name: e.Name, GEMM: productsOf(e.GEMM), MoE: productsOf(e.MoE)}
	for i := range e.Context {
		f.Context[i], f.MLA[i] = coreOf(&e.Context[i]), coreOf(&e.MLA[i])
	}
	for i := range e.Decode {
		f.Decode[i], f.Latent[i] = decodeOf(&e.Decode[i]), decodeOf(&e.Latent[i])
	}
	for i, m := range e.Module {
		f.Module[i] = moduleFile{in(m.Rest, 6), in(m.Host, 6)}
	}
	for _, b := range e.Blocks {
		f.Blocks = append(f.Blocks, blockFile{b.Format.String(), b.Rows, b.Source})
	}
	if o := &e.AllReduce; o.Known() {
		f.AllReduce = &oneShotFile{in(o.Start, 6), in(o.Rank, 6), in(o.Pass, 6), digits(o.Share), digits(float64(o.Most) / 1e6), in(o.Eager, 6)}
	}
	return f
}

func productsOf(list []hw.Product) []engineProductFile {
	var out []engineProductFile
	for i := range list {
		x := &list[i]
		out = append(out, engineProductFile{Kernel: x.Kernel, Weights: x.Weights.String(), Product: x.Format.String(), productFile: productOf(&x.GEMM),
			PerRow: in(x.PerRow, 9), PerElement: in(x.PerElement, 12), Host: in(x.Host, 6), Passes: digits(x.Passes), Others: digits(x.Others), Expert: in(x.Expert, 9)})
	}
	return out
}

func (f *decodeFile) constants() hw.Decode {
	if f == nil {
		return hw.Decode{}
	}
	return hw.Decode{Share: f.Share, Pad: f.Pad, Memory: f.Memory, Group: f.Group, GroupRate: f.GroupRate, Reach: f.Reach, Split: f.Split,
		Item: scaled(f.Item, -6), Join: scaled(f.Join, -6), Overlap: f.Overlap, Launch: scaled(f.Launch, -6),
		Near: megabytes(f.Near), NearRate: f.NearRate}
}

func decodeOf(d *hw.Decode) *decodeFile {
	if !d.Known() {
		return nil
	}
	f := &decodeFile{Share: digits(d.Share), Pad: digits(d.Pad), Reach: digits(d.Reach), Split: digits(d.Split), Item: in(d.Item, 6), Join: in(d.Join, 6),
		Overlap: digits(d.Overlap), Launch: in(d.Launch, 6), Group: digits(d.Group), GroupRate: digits(d.GroupRate), Near: digits(float64(d.Near) / 1e6), NearRate: digits(d.NearRate)}
	for i, v := range d.Memory {
		f.Memory[i] = digits(v)
	}
	return f
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
