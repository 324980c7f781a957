package calib

import (
	"slices"

	"github.com/ridgeline/ridgeline/internal/hw"
)

// keepShared gives every block that no table has told the catalogue's constants: a
// folder with a part of the tables measures a part of a machine, and says nothing of
// the others. Without a base nothing is kept.
func (f *fitter) keepShared() {
	k, base := f.kernels, f.base
	if base == nil {
		return
	}
	for i := range k.GEMM {
		if !k.GEMM[i].Known() {
			k.GEMM[i] = base.GEMM[i]
		}
	}
	k.Attention, k.MLA = stated(k.Attention, base.Attention), stated(k.MLA, base.MLA)
	k.Exchange, k.LowLatency = stated(k.Exchange, base.Exchange), stated(k.LowLatency, base.LowLatency)
	if !k.Links.Fitted() {
		k.Links = base.Links
	}
	k.Overheads = joined(k.Overheads, base.Overheads, func(a, b *hw.Overhead) bool { return a.Engine == b.Engine && a.What == b.What })
}

// keepEngine is keepShared of the engine's own blocks.
func (f *fitter) keepEngine(e *hw.Engine) {
	if f.base == nil {
		return
	}
	at := slices.IndexFunc(f.base.Engines, func(x hw.Engine) bool { return x.Name == e.Name })
	if at < 0 {
		return
	}
	base := &f.base.Engines[at]
	for i := range e.Context {
		e.Context[i], e.MLA[i] = stated(e.Context[i], base.Context[i]), stated(e.MLA[i], base.MLA[i])
	}
	for i := range e.Decode {
		e.Decode[i], e.Latent[i] = stated(e.Decode[i], base.Decode[i]), stated(e.Latent[i], base.Latent[i])
	}
	for i := range e.Module {
		e.Module[i] = stated(e.Module[i], base.Module[i])
	}
	e.AllReduce = stated(e.AllReduce, base.AllReduce)
	same := func(a, b *hw.Product) bool {
		return a.Kernel == b.Kernel && a.Weights == b.Weights && a.Format == b.Format
	}
	e.GEMM, e.MoE = joined(e.GEMM, base.GEMM, same), joined(e.MoE, base.MoE, same)
}

// keepOrigins keeps the origins of what was kept; kept names them.
func (f *fitter) keepOrigins() (kept []string) {
	if f.base == nil {
		return nil
	}
	k, n := f.kernels, len(f.kernels.Fits)
	k.Fits = joined(k.Fits, f.base.Fits, func(a, b *hw.Fit) bool { return a.What == b.What })
	for i := range k.Fits[n:] {
		kept = append(kept, k.Fits[n+i].What)
	}
	k.Devices = joined(k.Devices, f.base.Devices, func(a, b *string) bool { return *a == *b })
	return kept
}

// stated is a block, or where it is all zeros what stands in for it.
func stated[T comparable](x, instead T) T {
	if x == *new(T) {
		return instead
	}
	return x
}

// joined are own and those of others that none of own is the same as.
func joined[T any](own, others []T, same func(a, b *T) bool) []T {
	out := slices.Clone(own)
	for i := range others {
		if !slices.ContainsFunc(own, func(x T) bool { return same(&x, &others[i]) }) {
			out = append(out, others[i])
		}
	}
	return out
}
