package calib

import (
	"slices"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// generic is what a generation without measurements gets: the means of the
// fitted ones. Shares of the peak are left out, since makers state peaks with
// very different meanings; the device's own achieved rates stand in.
func generic(list []*hw.Kernels) *hw.Kernels {
	k := &hw.Kernels{Arch: "generic", Sustained: catalog.Kernels("generic").Sustained}
	for f := range unit.NumFormats {
		var sum hw.GEMM
		n := 0.0
		for _, of := range list {
			if g := &of.GEMM[f]; g.Known() {
				n++
				sum.Fill += g.Fill
				sum.Edge += g.Edge
				sum.Quant += g.Quant
				sum.Overlap += g.Overlap
				sum.Launch += g.Launch
				sum.Step += g.Step
				sum.Join += g.Join
				sum.Partial += g.Partial
				if n == 1 || g.Tiling == sum.Tiling { // what they agree on
					sum.Tiling = g.Tiling
				} else {
					sum.Tiling = hw.WholeK
				}
				sum.Grouped += g.Grouped
			}
		}
		if n > 0 {
			s := unit.Seconds(n)
			k.GEMM[f] = hw.GEMM{Fill: sum.Fill / n, Edge: sum.Edge / n, Quant: sum.Quant / n, Overlap: sum.Overlap / n, Launch: sum.Launch / s,
				Step: sum.Step / s, Tiling: sum.Tiling, Join: sum.Join / s, Partial: sum.Partial / n, Grouped: sum.Grouped / n}
		}
	}
	k.Engines = engineStandIns(list)
	n := float64(len(list))
	for _, of := range list {
		addCore(&k.Attention, &of.Attention, n)
		addCore(&k.MLA, &of.MLA, n)
		l, s := &k.Links, unit.Seconds(n)
		l.Start += of.Links.Start / s
		l.Hop += of.Links.Hop / s
		l.Pair += of.Links.Pair / s
		l.Chunk += of.Links.Chunk / s
		l.Switch += of.Links.Switch / s
		l.Own += of.Links.Own / n
		k.Fits = append(k.Fits, hw.Fit{What: "mean of " + of.Arch})
	}
	return k
}

// engineStandIns are the engines' kernels of the generation with the most measured GPUs, their
// means making no kernel: attention, experts and collectives, but no products, whose
// shares of the peak mean something else on another maker's chip.
func engineStandIns(list []*hw.Kernels) []hw.Engine {
	most := slices.MaxFunc(list, func(a, b *hw.Kernels) int { return len(a.Devices) - len(b.Devices) })
	engines := slices.Clone(most.Engines)
	for i := range engines {
		engines[i].GEMM = nil
	}
	return engines
}

func addCore(to, a *hw.Attention, n float64) {
	to.Fill += a.Fill / n
	to.Tail += a.Tail / n
	to.Stream += a.Stream / n
	to.Launch += a.Launch / unit.Seconds(n)
}
