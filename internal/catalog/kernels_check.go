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
	return c.err
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
