package cost

import (
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Cards without NVLink exchange through the host: their kernels write to and read
// from pinned memory, which costs rate and, for each chunk, several PCIe round
// trips. Fitted on prompt and decode steps of Qwen3-32B, TP2, on two RTX PRO 6000
// under vLLM 0.19 (LLMServingSim request stamps, MIT): 30 of 63 GB/s, the only
// measurement across PCIe there is. Cards that reach each other's memory are faster:
// the floor is the link's own rate.
var usualStaged = hw.Staged{Share: 0.60, Links: hw.Links{Start: 10e-6, Hop: 0.8e-6, Pair: 10e-6, Chunk: 15e-6, Own: 0.3}}

// staged is the node's exchange through the host's memory.
func (m *Machine) staged() *hw.Staged {
	if s := m.cluster.Node.Staged; s != nil {
		return s
	}
	return &usualStaged
}

// overPCIe tells whether the GPUs of a node have no other link.
func (m *Machine) overPCIe() bool { return m.cluster.Node.ScaleUpKind == "pcie" }

// NodeLink is what a GPU sends another of its node, bytes/s; 0 where a node has one.
func (m *Machine) NodeLink() unit.ByteRate {
	return unit.ByteRate(m.scaleUp * m.scaleUpPart(&legs{}))
}

// scaleUpPart is the share of the scale-up link's rate that an algorithm keeps.
func (m *Machine) scaleUpPart(l *legs) float64 {
	switch {
	case m.options.UsePeak:
		return 1
	case m.overPCIe():
		return m.staged().Share
	case l.scaleUpPart > 0:
		return l.scaleUpPart
	}
	return 1
}

// UsualStaged is the exchange of nodes that state none of their own.
func UsualStaged() hw.Staged { return usualStaged }
