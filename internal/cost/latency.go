package cost

import "github.com/ridgeline/ridgeline/internal/unit"

// FabricLatency is the one-way latency of a small message between nodes that
// prices contain already; 0 on one node.
func (m *Machine) FabricLatency() unit.Seconds { return unit.Seconds(m.nicLat) }
