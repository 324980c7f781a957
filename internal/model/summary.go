package model

import (
	"fmt"
	"strings"
)

// Summary names one layer's attention: mha, gqa, mqa, mla or linear, with
// +sliding, +chunked or +sparse where it does not see the whole context.
func (a *Attention) Summary() string {
	var s string
	switch {
	case a.Kind == MLA:
		s = "mla"
	case a.Kind == Linear:
		return "linear"
	case a.KVHeads == a.Heads:
		s = "mha"
	case a.KVHeads == 1:
		s = "mqa"
	default:
		s = "gqa"
	}
	if a.Window > 0 {
		s += "+sliding"
	}
	if a.Chunk > 0 {
		s += "+chunked"
	}
	if a.Indexer != nil {
		s += "+sparse"
	}
	return s
}

// AttentionSummary describes the model's attention in a few words: one name
// when all layers agree, "gqa+sliding" when local layers alternate with full
// ones of the same kind, "hybrid linear x45, gqa x15" otherwise. Kinds stand in
// the order of their first layer.
func (m *Model) AttentionSummary() string {
	var names []string
	count := map[string]int{}
	bases := map[string]bool{}
	for i := range m.Layers {
		s := m.Layers[i].Attention.Summary()
		if count[s]++; count[s] == 1 {
			names = append(names, s)
		}
		base, _, _ := strings.Cut(s, "+")
		bases[base] = true
	}
	if len(names) == 1 {
		return names[0]
	}
	if len(names) == 2 && len(bases) == 1 {
		return max(names[0], names[1]) // the longer one carries the suffix and sorts last
	}
	for i, s := range names {
		names[i] = fmt.Sprintf("%s x%d", s, count[s])
	}
	return "hybrid " + strings.Join(names, ", ")
}
