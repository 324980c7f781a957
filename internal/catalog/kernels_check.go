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
		c.least(n, g.Fill, g.Edge, float64(g.Launch), float64(g.Step), float64(g.Join), g.Partial)
	}
	for _, a := range [...]*hw.Attention{&k.Attention, &k.MLA} {
		c.core("attention", a)
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
	for i := range e.Context {
		c.core(e.Name+" context", &e.Context[i])
		c.core(e.Name+" mla", &e.MLA[i])
	}
	for i := range e.Decode {
		c.decode(e.Name+" decode", &e.Decode[i])
		c.decode(e.Name+" latent decode", &e.Latent[i])
	}
	for _, list := range [...][]hw.Product{e.GEMM, e.MoE} {
		for i := range list {
			x := &list[i]
			what := e.Name + " products " + x.Kernel
			c.share(what, x.Share, x.Quant, x.Overlap, x.Memory, x.Grouped)
			c.least(what, x.Fill, x.Edge, float64(x.Launch), float64(x.Step), float64(x.Join), x.Partial, float64(x.PerRow), float64(x.PerElement), float64(x.Host), x.Passes, x.Others, float64(x.Expert))
		}
	}
	o := &e.AllReduce
	c.share(e.Name+" all-reduce", o.Share)
	c.least(e.Name+" all-reduce", float64(o.Start), float64(o.Rank), float64(o.Pass), float64(o.Most), float64(o.Eager))
	for _, m := range e.Module {
		c.least(e.Name+" module", float64(m.Rest), float64(m.Host))
	}
}

func (c *rangeCheck) core(what string, a *hw.Attention) {
	c.share(what, a.Share[:]...)
	c.share(what, a.Tail)
	c.least(what, a.Fill, a.Stream, float64(a.Item), float64(a.Launch))
}

func (c *rangeCheck) decode(what string, d *hw.Decode) {
	c.share(what, d.Memory[:]...)
	c.share(what, d.Share, d.Overlap)
	c.least(what, d.Pad, d.Reach, d.Split, float64(d.Item), float64(d.Join), float64(d.Launch), d.Group, d.GroupRate, float64(d.Near), d.NearRate)
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
