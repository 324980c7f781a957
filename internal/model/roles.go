package model

// ParamsByRole counts one layer's parameters by role; the sum is LayerParams.
func (m *Model) ParamsByRole(l *Layer) [NumRoles]int64 {
	var by [NumRoles]int64
	for _, w := range m.Weights(l) {
		by[w.Role] += w.Params()
	}
	return by
}

// RoleParams counts the whole model by role, MTP modules included under RoleMTP.
// The sum without RoleMTP is Params. A tied matrix stands under RoleEmbedding.
func (m *Model) RoleParams() [NumRoles]int64 {
	var by [NumRoles]int64
	for i := range m.Layers {
		for role, n := range m.ParamsByRole(&m.Layers[i]) {
			by[role] += n
		}
	}
	by[RoleNorm] += m.Norm.Params(m.Hidden)
	by[RoleEmbedding] = m.EmbeddingParams()
	by[RoleHead] = m.HeadParams()
	by[RoleMTP] = m.MTPParams()
	return by
}

// CheckpointParams is what the published weight files hold: the model, its MTP
// modules and, with MTPOwnHead, each module's copies of embedding and head
// (DeepSeek-V3: 684.5 B, published as 685 B).
func (m *Model) CheckpointParams() int64 {
	n := m.Params() + m.MTPParams()
	if m.MTPOwnHead {
		n += int64(len(m.MTP)) * 2 * m.Vocab * m.Hidden
	}
	return n
}

// MaxExperts is the largest number of routed experts of any layer, 0 for a dense model.
func (m *Model) MaxExperts() int64 {
	var n int64
	for i := range m.Layers {
		n = max(n, m.Layers[i].FFN.Experts)
	}
	return n
}
