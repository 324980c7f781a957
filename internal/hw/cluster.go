package hw

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// NodeSpec is one server or one scale-up domain with its way out.
type NodeSpec struct {
	GPUs        int64  // devices that share the scale-up link (8 in an HGX node, 72 in an NVL72 rack)
	ScaleUpKind string // nvlink, infinity-fabric, pcie, ...
	NIC         Figure // bytes/s per GPU and direction between nodes; nominal
	NICKind     string // infiniband, roce, efa, ethernet
	NICLatency  Figure // seconds, one way, small message, across the fabric
	SharedNIC   bool   // one NIC per node: NIC is already divided by GPUs
	// Staged, where set, replaces what is usual of devices that exchange through the host's memory.
	Staged *Staged
}

// Staged is an exchange through the host's memory, of devices whose node has no other link.
type Staged struct {
	Share float64 // of the rate that the link's collectives usually reach
	Links Links
}

// Fabric is the network between nodes.
type Fabric struct {
	Oversubscription float64 // >= 1: leaf uplinks carry 1/x of the downlinks; 1 = full bisection
	Rails            bool    // GPU i of every node shares a leaf with GPU i of the others
}

// Cluster is GPUs equal devices in equal nodes.
type Cluster struct {
	Name   string // as the user gave it
	Device *Device
	GPUs   int64
	Node   NodeSpec
	Fabric Fabric
	// Economics and failures; zero means not given.
	PricePerGPUHour float64 // USD
	Free            bool    // a price of 0 was given: it is known
	GPUMTBF         unit.Seconds
	PowerPerGPU     float64 // watts including its share of the node; 0 = TDP
	Source          string  // where the description comes from; empty for a spec such as h800x2048
	Notes           string
}

// Clone is a deep copy with its own device, so that one figure can be changed
// to ask what the answer would be.
func (c *Cluster) Clone() *Cluster {
	d := *c
	d.Device = c.Device.Clone()
	return &d
}

// Nodes is the number of nodes, the last one possibly partly used.
func (c *Cluster) Nodes() int64 { return (c.GPUs + c.Node.GPUs - 1) / c.Node.GPUs }

// Validate says what is wrong with a cluster as one line, naming the mend.
func (c *Cluster) Validate() error {
	switch {
	case c.Device == nil:
		return fmt.Errorf("cluster %q has no device: name one of `ridgeline gpus`", c.Name)
	case c.GPUs < 1:
		return fmt.Errorf("cluster %q has %d GPUs: give at least 1", c.Name, c.GPUs)
	case c.Node.GPUs < 1:
		return fmt.Errorf("cluster %q has %d GPUs per node: give at least 1", c.Name, c.Node.GPUs)
	case c.GPUs > c.Node.GPUs && c.GPUs%c.Node.GPUs != 0:
		return note.Faultf(note.NodesUnfilled, "cluster gpus node", "cluster %q: %d GPUs do not fill nodes of %d: use a multiple of %d", c.Name, c.GPUs, c.Node.GPUs, c.Node.GPUs)
	case min(c.GPUs, c.Node.GPUs) > 1 && !c.Device.Peak.ScaleUp.Known():
		return fmt.Errorf("cluster %q: no scale-up rate is known for %s: set node.scale_up_gb_per_s in a cluster file", c.Name, c.Device.Name)
	case c.GPUs > c.Node.GPUs && !c.Node.NIC.Known():
		return fmt.Errorf("cluster %q spans nodes but no NIC rate is known for %s: set node.nic_gb_per_s_per_gpu in a cluster file", c.Name, c.Device.Name)
	case !(c.Fabric.Oversubscription >= 1): // also NaN
		return fmt.Errorf("cluster %q: oversubscription %g is below 1: use 1 for full bisection", c.Name, c.Fabric.Oversubscription)
	}
	return nil
}
