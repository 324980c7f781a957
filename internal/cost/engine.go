package cost

import (
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// serving is the kernels of the engine in Options: each block the engine's own,
// else that of the first engine of the generation which has one.
type serving struct {
	context, latent      [hw.NumOperands]attentionRates // latent: MLA of a prompt
	decode, decodeMLA    [hw.NumCaches]hw.Decode
	allReduce            hw.OneShot
	exchange, lowLatency hw.Exchange
	gemm, moe            []engineProduct
	start                unit.Seconds // of a product that quantises nothing
	module               [hw.NumModules]hw.Module
}

// block picks the first known block of a kind, the named engine's before others'.
func block[T any](k *hw.Kernels, name string, of func(*hw.Engine) *T, known func(*T) bool) T {
	var first T
	found := false
	for i := range k.Engines {
		e := &k.Engines[i]
		b := of(e)
		if !known(b) {
			continue
		}
		if e.Name == name {
			return *b
		}
		if !found {
			first, found = *b, true
		}
	}
	return first
}

func knownAttention(a *hw.Attention) bool { return a.Launch > 0 }

// resolveEngine prepares the serving kernels. With no engine named, as in
// training, only decode, which training has not, and the exchanges' constants are used.
func (m *Machine) resolveEngine(d *hw.Device, k *hw.Kernels) {
	name := m.options.Engine
	s := &m.serving
	for i := range hw.NumCaches {
		s.decode[i] = block(k, name, func(e *hw.Engine) *hw.Decode { return &e.Decode[i] }, (*hw.Decode).Known)
		s.decodeMLA[i] = block(k, name, func(e *hw.Engine) *hw.Decode { return &e.Latent[i] }, (*hw.Decode).Known)
	}
	s.allReduce = block(k, name, func(e *hw.Engine) *hw.OneShot { return &e.AllReduce }, (*hw.OneShot).Known)
	s.exchange, s.lowLatency = k.Exchange, k.LowLatency
	for i := range hw.NumModules {
		s.module[i] = block(k, name, func(e *hw.Engine) *hw.Module { return &e.Module[i] }, (*hw.Module).Known)
	}
	if name == "" {
		return
	}
	m.resolveContext(k, name)
	s.gemm = m.engineProducts(k, name, func(e *hw.Engine) []hw.Product { return e.GEMM })
	s.start = launch
	for i := range s.gemm {
		if x := &s.gemm[i]; x.Weights.Bits() == 16 && x.Format.Bits() == 16 {
			s.start = x.Launch
			break
		}
	}
	s.moe = m.engineProducts(k, name, func(e *hw.Engine) []hw.Product { return e.MoE })
}

// resolveContext prepares the cores over prompts: formats that no engine has
// constants for take those of 16 bit, whose own stand-in is training's.
func (m *Machine) resolveContext(k *hw.Kernels, name string) {
	s := &m.serving
	for i := range hw.NumOperands {
		peak, limit := m.peakHalf, max(m.matrix[unit.BF16], m.matrix[unit.FP16])
		if i == 2 && m.matrix[unit.FP8] > 0 {
			peak, limit = m.peakMatrix[unit.FP8], m.matrix[unit.FP8]
		}
		a := block(k, name, func(e *hw.Engine) *hw.Attention { return &e.Context[i] }, knownAttention)
		l := block(k, name, func(e *hw.Engine) *hw.Attention { return &e.MLA[i] }, knownAttention)
		switch {
		case i > 0 && a.Launch == 0:
			s.context[i] = s.context[0]
		case a.Launch == 0:
			s.context[i] = m.att
		default:
			s.context[i] = m.attentionRates(a, peak, limit, 1)
		}
		switch {
		case i > 0 && l.Launch == 0:
			s.latent[i] = s.latent[0]
		case l.Launch == 0:
			s.latent[i] = m.mla
		default:
			s.latent[i] = m.attentionRates(l, peak, limit, 1)
		}
	}
}

// Module is what the measurement of a latent-attention block holds beside its
// products and its core; which is hw.ContextModule or hw.DecodeModule.
func (m *Machine) Module(which int) hw.Module { return m.serving.module[which] }
