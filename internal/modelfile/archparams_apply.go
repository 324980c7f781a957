package modelfile

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ridgeline/ridgeline/internal/model"
)

// apply replaces fields of m and checks the result.
func (p archParams) apply(m *model.Model) error {
	if n, ok := p["layers"]; ok {
		if err := resize(m, n); err != nil {
			return err
		}
	}
	if err := p.checkKinds(m); err != nil {
		return err
	}
	if k, ok := p["dense_layers"]; ok {
		if err := setDenseLayers(m, k); err != nil {
			return err
		}
	}
	oldHidden := m.Hidden
	p.set("hidden", &m.Hidden)
	p.set("vocab", &m.Vocab)
	for _, stack := range [][]model.Layer{m.Layers, m.MTP} {
		for i := range stack {
			if err := p.applyAttention(&stack[i].Attention, oldHidden, m.Hidden); err != nil {
				return err
			}
			p.applyFFN(&stack[i].FFN, hasDense(m))
		}
	}
	if err := m.Check(); err != nil {
		return err
	}
	return p.matchCount(m)
}

// set replaces a field where the key is given.
func (p archParams) set(key string, field *int64) {
	if n, ok := p[key]; ok {
		*field = n
	}
}

// resize keeps the first n layers, or repeats them where all are alike.
func resize(m *model.Model, n int64) error {
	have := int64(len(m.Layers))
	if n < 1 || n > maxLayers {
		return fmt.Errorf("arch_params layers is %d; it must lie between 1 and %d", n, maxLayers)
	}
	if n <= have {
		m.Layers = m.Layers[:n]
		return nil
	}
	for i := range m.Layers {
		if m.Layers[i] != m.Layers[0] {
			return fmt.Errorf("arch_params layers is %d, more than the %d of a model whose layers differ; which ones repeat is unknown", n, have)
		}
	}
	m.Layers = append(m.Layers, slices.Repeat(m.Layers[:1], int(n-have))...)
	return nil
}

// checkKinds refuses keys that no layer of the model has.
func (p archParams) checkKinds(m *model.Model) error {
	var latent, grouped, routed bool
	for i := range m.Layers {
		latent = latent || m.Layers[i].Attention.Kind == model.MLA
		grouped = grouped || m.Layers[i].Attention.Kind == model.GQA
		routed = routed || m.Layers[i].FFN.MoE()
	}
	for _, need := range []struct {
		ok   bool
		what string
		keys []string
	}{
		{grouped, "grouped-query attention", []string{"kv_heads", "head_dim"}},
		{latent, "latent attention", []string{"q_lora", "kv_lora", "nope", "rope", "v_head"}},
		{routed, "routed experts", []string{"experts", "topk", "moe_ffn", "shared_ffn", "dense_layers"}},
	} {
		for _, key := range need.keys {
			if _, given := p[key]; given && !need.ok {
				return fmt.Errorf("arch_params %s needs %s, which the model has not; remove it", key, need.what)
			}
		}
	}
	return nil
}

// setDenseLayers makes the first k layers dense and the others routed, with the
// shapes that the model has for each.
func setDenseLayers(m *model.Model, k int64) error {
	var dense, routed *model.FFN
	for i := range m.Layers {
		if f := m.Layers[i].FFN; f.MoE() {
			routed = &f
		} else {
			dense = &f
		}
	}
	if k > int64(len(m.Layers)) || k > 0 && dense == nil {
		return fmt.Errorf("arch_params dense_layers is %d, but the model has %d layers and no more dense shapes than it shows", k, len(m.Layers))
	}
	for i := range m.Layers {
		if int64(i) < k {
			m.Layers[i].FFN = *dense
		} else {
			m.Layers[i].FFN = *routed
		}
	}
	return nil
}

func (p archParams) applyAttention(a *model.Attention, oldHidden, hidden int64) error {
	filled := a.Heads*a.QKDim == oldHidden // head size = hidden / heads, as in most models
	alike := a.KVHeads == a.Heads
	switch a.Kind {
	case model.MLA:
		p.set("heads", &a.Heads)
		nope := a.QKDim - a.Rope
		p.set("nope", &nope)
		p.set("rope", &a.Rope)
		a.QKDim = nope + a.Rope
		p.set("q_lora", &a.QRank)
		p.set("kv_lora", &a.KVRank)
		p.set("v_head", &a.VDim)
	case model.GQA:
		p.set("heads", &a.Heads)
		if alike {
			a.KVHeads = a.Heads
		}
		p.set("kv_heads", &a.KVHeads)
		if _, given := p["head_dim"]; !given && filled {
			if a.Heads == 0 || hidden%a.Heads != 0 {
				return fmt.Errorf("arch_params hidden %d does not divide by %d heads; add head_dim", hidden, a.Heads)
			}
			a.QKDim, a.VDim = hidden/a.Heads, hidden/a.Heads
		}
		if d, given := p["head_dim"]; given {
			a.QKDim, a.VDim = d, d
		}
	default:
		if _, given := p["heads"]; given {
			return errors.New("arch_params heads is ambiguous for a model with linear attention; remove it")
		}
	}
	return nil
}

// hasDense tells whether ffn means the dense layers' width; without any it means the experts'.
func hasDense(m *model.Model) bool {
	return slices.ContainsFunc(m.Layers, func(l model.Layer) bool { return l.FFN.Inner > 0 })
}

func (p archParams) applyFFN(f *model.FFN, dense bool) {
	if f.Inner > 0 {
		p.set("ffn", &f.Inner)
	}
	if !f.MoE() {
		return
	}
	if !dense {
		p.set("ffn", &f.ExpertInner)
	}
	p.set("experts", &f.Experts)
	p.set("topk", &f.TopK)
	p.set("moe_ffn", &f.ExpertInner)
	p.set("shared_ffn", &f.SharedInner)
}

// matchCount meets n_params: exactly, or by the number of learned positions.
func (p archParams) matchCount(m *model.Model) error {
	want, ok := p["n_params"]
	if !ok || want == m.Params() {
		return nil
	}
	rest := want - (m.Params() - m.Positions*m.Hidden)
	if m.Positions == 0 || rest <= 0 || rest%m.Hidden != 0 || rest/m.Hidden > maxCount {
		return fmt.Errorf("arch_params n_params is %d but the shapes count to %d; correct one of them", want, m.Params())
	}
	m.Positions = rest / m.Hidden
	m.MaxContext = m.Positions
	return m.Check()
}
