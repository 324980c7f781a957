package catalog

import (
	"fmt"
	"math"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// checkKernels refuses constants outside their physical range.
func checkKernels(k *hw.Kernels) error {
	if k.Arch == "" {
		return fmt.Errorf("arch is missing: name the GPU generation")
	}
	var c rangeCheck
	for f := range unit.NumFormats {
		g, n := &k.GEMM[f], "gemm "+f.String()
		c.share(n, g.Share, g.Quant, g.Overlap, g.Memory, g.Grouped)
		c.least(n, g.Fill, g.Edge, float64(g.Launch))
	}
	for _, a := range [...]*hw.Attention{&k.Attention, &k.MLA} {
		c.share("attention", a.Share[:]...)
		c.share("attention", a.Tail)
		c.least("attention", a.Fill, a.Stream, float64(a.Launch))
	}
	l := &k.Links
	c.share("links", l.Own)
	c.share("sustained", k.Sustained.Share)
	for _, d := range k.Sustained.Devices {
		c.share("sustained "+d.Device, d.Share)
	}
	c.least("links", float64(l.Start), float64(l.Hop), float64(l.Pair), float64(l.Chunk), float64(l.Switch))
	for i := range k.Engines {
		c.engine(&k.Engines[i])
	}
	for _, x := range [...]*hw.Exchange{&k.Exchange, &k.LowLatency} {
		for i := range x.Start {
			c.least("expert exchange", float64(x.Start[i]))
			c.share("expert exchange", x.Share[i], x.PerSM[i])
		}
	}
	return c.err
}

func (c *rangeCheck) engine(e *hw.Engine) {
	for _, a := range [...]*hw.Attention{&e.Context, &e.Context8, &e.MLA} {
		c.share(e.Name+" context", append(a.Share[:], a.Tail)...)
		c.least(e.Name+" context", a.Fill, a.Stream, float64(a.Launch))
	}
	for _, d := range [...]*hw.Decode{&e.Decode, &e.Latent} {
		c.share(e.Name+" decode", d.Share, d.Memory, d.Cache8, d.Overlap)
		c.least(e.Name+" decode", d.Pad, d.Reach, d.Split, float64(d.Item), float64(d.Join), float64(d.Launch), float64(d.Near), d.NearRate)
	}
	for i := range e.MoE {
		x := &e.MoE[i]
		c.share(e.Name+" moe "+x.Kernel, x.Share, x.Quant, x.Overlap, x.Memory, x.Grouped)
		c.least(e.Name+" moe "+x.Kernel, x.Fill, x.Edge, float64(x.Launch), x.Passes, float64(x.Expert))
	}
	o := &e.AllReduce
	c.share(e.Name+" all-reduce", o.Share)
	c.least(e.Name+" all-reduce", float64(o.Start), float64(o.Rank), float64(o.Pass), float64(o.Most), float64(o.Eager))
	c.least(e.Name, float64(e.ModuleContext), float64(e.ModuleDecode))
}

// rangeCheck keeps the first complaint.
type rangeCheck struct{ err error }

func (c *rangeCheck) share(what string, values ...float64) {
	for _, v := range values {
		if c.err == nil && !(v >= 0 && v <= 1) {
			c.err = fmt.Errorf("%s: a share is %g: give 0 to 1", what, v)
		}
	}
}

func (c *rangeCheck) least(what string, values ...float64) {
	for _, v := range values {
		if c.err == nil && (!(v >= 0) || math.IsInf(v, 0)) {
			c.err = fmt.Errorf("%s: a constant is %g: give 0 or more", what, v)
		}
	}
}
