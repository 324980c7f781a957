package model

// Role says which part of a layer a weight belongs to. It decides the divisor
// under tensor and expert parallelism, the number format and the recompute group.
type Role uint8

// The roles, in the order reports print them.
const (
	RoleAttention Role = iota
	RoleDense
	RoleShared
	RoleExpert
	RoleRouter
	RoleNorm
	RoleEmbedding
	RoleHead
	RoleMTP
	NumRoles
)

var roleNames = [NumRoles]string{"attention", "dense ffn", "shared expert", "routed experts", "router", "norms", "embedding", "head", "mtp"}

// String is the role's name in reports.
func (r Role) String() string { return roleNames[r] }

// Split is how tensor parallelism divides a weight.
type Split uint8

// SplitOut divides the output features (column parallel), SplitIn the input
// features (row parallel); SplitNone keeps a copy on every rank.
const (
	SplitNone Split = iota
	SplitOut
	SplitIn
)

// Weight is one weight matrix (Out x In) or, with In = 0, a vector of Out
// parameters (norms, biases, sinks) that costs no matrix multiplication.
type Weight struct {
	Name    string
	Role    Role
	In, Out int64
	Bias    int64 // bias parameters beside the matrix
	Copies  int64 // identical matrices (experts); 1 otherwise
	Split   Split
	Parts   int64 // matrices stored side by side along Out (gate and up), each with adapters of its own; 0 = 1
	Units   int64 // indivisible units (heads) along the split; 0 = no limit. Fewer units than ranks means copies.
}

// Params is the number of parameters of all copies.
func (w *Weight) Params() int64 {
	if w.In == 0 {
		return w.Copies * (w.Out + w.Bias)
	}
	return w.Copies * (w.In*w.Out + w.Bias)
}

// Weights lists every weight of the layer. Active FLOPs per token of a matrix
// are 2 x In x Out x (TopK for experts, otherwise 1).
func (m *Model) Weights(l *Layer) []Weight {
	ws := attentionWeights(m.Hidden, &l.Attention)
	ws = append(ws, ffnWeights(m.Hidden, &l.FFN)...)
	return append(ws, Weight{Name: "norms", Role: RoleNorm, Out: l.Norms * m.Norm.Params(m.Hidden), Copies: 1})
}

func matrix(name string, role Role, in, out int64, split Split, units int64) Weight {
	return Weight{Name: name, Role: role, In: in, Out: out, Copies: 1, Split: split, Units: units}
}

func vector(name string, role Role, n int64) Weight {
	return Weight{Name: name, Role: role, Out: n, Copies: 1}
}

func attentionWeights(h int64, a *Attention) []Weight {
	var ws []Weight
	switch a.Kind {
	case MLA:
		ws = mlaWeights(h, a)
	case Linear:
		ws = linearWeights(h, a)
	default:
		ws = gqaWeights(h, a)
	}
	if a.QKNorm > 0 {
		ws = append(ws, vector("qk norms", RoleNorm, a.QKNorm))
	}
	if a.Sinks > 0 {
		ws = append(ws, vector("sinks", RoleNorm, a.Sinks))
	}
	if ix := a.Indexer; ix != nil {
		ws = append(ws, indexerWeights(h, a, ix)...)
	}
	return ws
}

func gqaWeights(h int64, a *Attention) []Weight {
	q := a.Heads * a.QKDim
	if a.OutGate {
		q *= 2
	}
	ws := []Weight{
		matrix("q", RoleAttention, h, q, SplitOut, a.Heads),
		matrix("k", RoleAttention, h, a.KVHeads*a.QKDim, SplitOut, a.KVHeads),
	}
	if !a.SharedKV {
		ws = append(ws, matrix("v", RoleAttention, h, a.KVHeads*a.VDim, SplitOut, a.KVHeads))
	}
	if a.QKVBias {
		for i := range ws {
			ws[i].Bias = ws[i].Out
		}
	}
	o := matrix("o", RoleAttention, a.Heads*a.VDim, h, SplitIn, a.Heads)
	if a.OutBias {
		o.Bias = h
	}
	return append(ws, o)
}

// mlaWeights follows DeepSeek-V2 (arXiv:2405.04434 section 2.1): latents are
// made by replicated projections, per-head parts are split by head.
func mlaWeights(h int64, a *Attention) []Weight {
	var ws []Weight
	if a.QRank > 0 {
		ws = append(ws, matrix("q_a", RoleAttention, h, a.QRank, SplitNone, 0),
			vector("q_a norm", RoleNorm, a.QRank),
			matrix("q_b", RoleAttention, a.QRank, a.Heads*a.QKDim, SplitOut, a.Heads))
	} else {
		ws = append(ws, matrix("q", RoleAttention, h, a.Heads*a.QKDim, SplitOut, a.Heads))
	}
	return append(ws,
		matrix("kv_a", RoleAttention, h, a.KVRank+a.Rope, SplitNone, 0),
		vector("kv_a norm", RoleNorm, a.KVRank),
		matrix("kv_b", RoleAttention, a.KVRank, a.Heads*(a.QKDim-a.Rope+a.VDim), SplitOut, a.Heads),
		matrix("o", RoleAttention, a.Heads*a.VDim, h, SplitIn, a.Heads))
}

// linearWeights is the gated delta-rule layer of Qwen3-Next and Qwen3.5: q, k, v
// and an output gate z, per-head decay and write strength, a depthwise
// convolution over q, k and v, and a norm per value head.
func linearWeights(h int64, a *Attention) []Weight {
	k, v := a.KeyHeads*a.QKDim, a.Heads*a.VDim
	return []Weight{
		matrix("q", RoleAttention, h, k, SplitOut, a.KeyHeads),
		matrix("k", RoleAttention, h, k, SplitOut, a.KeyHeads),
		matrix("v", RoleAttention, h, v, SplitOut, a.Heads),
		matrix("z", RoleAttention, h, v, SplitOut, a.Heads),
		matrix("beta", RoleAttention, h, a.Heads, SplitOut, a.Heads),
		matrix("decay", RoleAttention, h, a.Heads, SplitOut, a.Heads),
		vector("conv", RoleNorm, (2*k+v)*a.ConvWidth),
		vector("decay bias and rate", RoleNorm, 2*a.Heads),
		vector("out norm", RoleNorm, a.VDim),
		matrix("o", RoleAttention, v, h, SplitIn, a.Heads),
	}
}

// indexerWeights is DeepSeek-V3.2's lightning indexer: queries from the query
// latent, one shared key with a LayerNorm, one weight per indexer head.
func indexerWeights(h int64, a *Attention, ix *Indexer) []Weight {
	in := a.QRank
	if in == 0 {
		in = h
	}
	return []Weight{
		matrix("indexer q", RoleAttention, in, ix.Heads*ix.Dim, SplitNone, 0),
		matrix("indexer k", RoleAttention, h, ix.Dim, SplitNone, 0),
		vector("indexer k norm", RoleNorm, 2*ix.Dim),
		matrix("indexer weights", RoleAttention, h, ix.Heads, SplitNone, 0),
	}
}

func ffnWeights(h int64, f *FFN) []Weight {
	var ws []Weight
	if f.Inner > 0 {
		ws = append(ws, gatedPair(h, f.Inner, RoleDense, "", f, 1)...)
	}
	if !f.MoE() {
		return ws
	}
	router := matrix("router", RoleRouter, h, f.Experts, SplitNone, 0)
	if f.RouterBias {
		router.Bias = f.Experts
	}
	ws = append(ws, router)
	if f.RouterParams > 0 {
		ws = append(ws, vector("router scale", RoleRouter, f.RouterParams))
	}
	if f.SharedInner > 0 {
		ws = append(ws, gatedPair(h, f.SharedInner, RoleShared, "shared ", f, 1)...)
		if f.SharedGate {
			ws = append(ws, matrix("shared gate", RoleRouter, h, 1, SplitNone, 0))
		}
	}
	return append(ws, gatedPair(h, f.ExpertInner, RoleExpert, "expert ", f, f.Experts)...)
}

// gatedPair is the up (with gate, side by side) and the down matrix of an FFN.
func gatedPair(h, inner int64, role Role, prefix string, f *FFN, copies int64) []Weight {
	width := inner
	if f.Gated {
		width *= 2
	}
	up := Weight{Name: prefix + "up", Role: role, In: h, Out: width, Copies: copies, Split: SplitOut}
	down := Weight{Name: prefix + "down", Role: role, In: inner, Out: h, Copies: copies, Split: SplitIn}
	if f.Gated {
		up.Parts = 2
	}
	if f.Bias {
		up.Bias, down.Bias = width, h
	}
	return []Weight{up, down}
}
