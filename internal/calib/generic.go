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
		var known []*hw.GEMM
		for _, of := range list {
			if of.GEMM[f].Known() {
				known = append(known, &of.GEMM[f])
			}
		}
		k.GEMM[f] = meanGEMM(known)
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

// meanGEMM is the means of constants without their shares of a peak; the zero value of none.
func meanGEMM(list []*hw.GEMM) (mean hw.GEMM) {
	n := float64(len(list))
	s := unit.Seconds(n)
	for i, g := range list {
		mean.Fill += g.Fill / n
		mean.Edge += g.Edge / n
		mean.Quant += g.Quant / n
		mean.Overlap += g.Overlap / n
		mean.Launch += g.Launch / s
		mean.Step += g.Step / s
		mean.Join += g.Join / s
		mean.Partial += g.Partial / n
		mean.Grouped += g.Grouped / n
		if i == 0 || g.Tiling == mean.Tiling { // what they agree on
			mean.Tiling = g.Tiling
		} else {
			mean.Tiling = hw.WholeK
		}
	}
	return mean
}

// engineStandIns are the engines' kernels of the generation with the most measured GPUs, their
// means making no kernel: attention, experts and collectives. Of products they are the means, see meanProducts.
func engineStandIns(list []*hw.Kernels) []hw.Engine {
	most := slices.MaxFunc(list, func(a, b *hw.Kernels) int { return len(a.Devices) - len(b.Devices) })
	engines := slices.Clone(most.Engines)
	for _, of := range list {
		for i := range of.Engines {
			if name := of.Engines[i].Name; !slices.ContainsFunc(engines, func(e hw.Engine) bool { return e.Name == name }) {
				engines = append(engines, hw.Engine{Name: name})
			}
		}
	}
	for i := range engines {
		engines[i].GEMM = meanProducts(list, engines[i].Name)
	}
	return engines
}

// meanProducts is the means over generations of what an engine does around its products, and of their shapes, by
// formats: quantising the activations and the host's pace are the engine's on whatever GPU. Each generation counts with the
// engine's usual kernel of the formats. Shares of the peak mean something else on another maker's chip and
// are left out, as are weights alone in few bits, whose kernels differ by engine and generation.
func meanProducts(list []*hw.Kernels, engine string) []hw.Product {
	type pair struct{ weights, product unit.Format }
	var order []pair
	usual := map[pair][]*hw.Product{}
	for _, of := range list {
		seen := map[pair]bool{}
		for i := range of.Engines {
			e := &of.Engines[i]
			for j := range e.GEMM {
				x := &e.GEMM[j]
				f := pair{x.Weights, x.Format}
				if e.Name != engine || seen[f] || x.Weights != x.Format {
					continue
				}
				if seen[f] = true; usual[f] == nil {
					order = append(order, f)
				}
				usual[f] = append(usual[f], x)
			}
		}
	}
	var out []hw.Product
	for _, f := range order {
		m := hw.Product{Kernel: "mean", Weights: f.weights, Format: f.product}
		var shapes []*hw.GEMM
		s := unit.Seconds(len(usual[f]))
		for _, x := range usual[f] {
			shapes = append(shapes, &x.GEMM)
			m.PerRow += x.PerRow / s
			m.PerElement += x.PerElement / s
			m.Host += x.Host / s
		}
		m.GEMM = meanGEMM(shapes)
		out = append(out, m)
	}
	return out
}

func addCore(to, a *hw.Attention, n float64) {
	to.Fill += a.Fill / n
	to.Tail += a.Tail / n
	to.Stream += a.Stream / n
	to.Launch += a.Launch / unit.Seconds(n)
}
