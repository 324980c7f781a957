package cost

import (
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// serving is the kernels of the engine in Options: each block the engine's own,
// else that of the first engine of the generation which has one.
type serving struct {
	context, context8, latent attentionRates // latent: MLA of a prompt
	decode, decodeMLA         hw.Decode
	allReduce                 hw.OneShot
	exchange, lowLatency      hw.Exchange
	moe                       []gemmRates // parallel to moeOf
	moeOf                     []hw.MoE
	overheads                 [unit.NumFormats]hw.Overhead
	moduleContext             float64 // seconds
	moduleDecode              float64
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
func knownSeconds(s *unit.Seconds) bool   { return *s > 0 }

// resolveEngine prepares the serving kernels. Training prices with no engine, and
// then nothing here is used but decode, which training has not.
func (m *Machine) resolveEngine(d *hw.Device, k *hw.Kernels) {
	name := m.options.Engine
	s := &m.serving
	peak8 := d.Peak.Matrix[unit.FP8].Value
	half, eighth := max(m.matrix[unit.BF16], m.matrix[unit.FP16]), m.matrix[unit.FP8]
	own := func(of func(*hw.Engine) *hw.Attention, usual hw.Attention, peak, limit float64) attentionRates {
		a := block(k, name, of, knownAttention)
		if a.Launch == 0 {
			a = usual
		}
		return m.attentionRates(a, peak, limit, 1)
	}
	peak := d.Peak.Matrix[unit.BF16].Value
	s.context = own(func(e *hw.Engine) *hw.Attention { return &e.Context }, k.Attention, peak, half)
	s.latent = own(func(e *hw.Engine) *hw.Attention { return &e.MLA }, k.MLA, peak, half)
	s.context8 = s.context
	if eighth > 0 {
		s.context8 = own(func(e *hw.Engine) *hw.Attention { return &e.Context8 }, k.Attention, peak8, eighth)
	}
	known := (*hw.Decode).Known
	s.decode = block(k, name, func(e *hw.Engine) *hw.Decode { return &e.Decode }, known)
	s.decodeMLA = block(k, name, func(e *hw.Engine) *hw.Decode { return &e.Latent }, known)
	s.allReduce = block(k, name, func(e *hw.Engine) *hw.OneShot { return &e.AllReduce }, (*hw.OneShot).Known)
	s.exchange, s.lowLatency = k.Exchange, k.LowLatency
	s.moduleContext = float64(block(k, name, func(e *hw.Engine) *unit.Seconds { return &e.ModuleContext }, knownSeconds))
	s.moduleDecode = float64(block(k, name, func(e *hw.Engine) *unit.Seconds { return &e.ModuleDecode }, knownSeconds))
	if name == "" {
		return
	}
	m.resolveMoE(k, name)
	for i := range k.Overheads {
		o := &k.Overheads[i]
		for f := range unit.NumFormats {
			if o.Engine == name && o.What == "gemm "+f.String() {
				s.overheads[f] = *o
			}
		}
	}
}

// around is what the engine adds around a dense product: quantising of the
// activations, launches of its own, and the host's pace where no CUDA graph runs.
func (m *Machine) around(p Price, op *work.Op) Price {
	o := &m.serving.overheads[op.Format]
	extra := o.Fixed + o.PerRow*unit.Seconds(op.M) + o.PerElement*unit.Seconds(op.M*op.K)
	p.Estimate += extra
	p.Upper += extra
	if m.options.Eager && o.Host > p.Estimate {
		p.Estimate, p.Upper, p.Bound = o.Host, max(p.Upper, o.Host), Latency
	}
	return p
}

// Module is what a latent-attention block takes besides its products and its
// core: norms, rotary embedding, copies and the gaps between kernels; of a prompt's
// tokens or of a decode step. 0 where nothing was fitted.
func (m *Machine) Module(context bool) unit.Seconds {
	if context {
		return unit.Seconds(m.serving.moduleContext)
	}
	return unit.Seconds(m.serving.moduleDecode)
}
