package validate

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/hw"
)

// deviceShare is what the dense runs of the Megatron family tell of a device.
type deviceShare struct {
	arch    string
	perWatt float64 // see hw.Clock
	share   float64 // median of the values with which single runs would be exact
}

// shareFit is the sustained shares of devices with at least leastRows dense runs, and what these
// say of others: held, see hw.Clock, under which the shares of devices whose power limit does not bind are most alike.
type shareFit struct {
	devices map[string]deviceShare
	held    float64
}

// denseShares is the sustained shares of single dense runs of the Megatron family, by device.
func denseShares(list []lone) map[string][]float64 {
	shares := map[string][]float64{}
	for i := range list {
		if y := &list[i]; !y.p.MoE && !y.eager() {
			shares[y.p.Device] = append(shares[y.p.Device], y.share)
		}
	}
	return shares
}

// The search of shareFit.held, 16-bit FLOP/s and watt: between the catalogue's least and most
// demanding accelerators of a data centre.
const leastHeld, mostHeld, heldStep = 0.5e12, 2e12, 0.01e12

func fitShares(list []lone) *shareFit {
	f := &shareFit{devices: map[string]deviceShare{}}
	shares := denseShares(list)
	for i := range list {
		p := list[i].p
		if v := shares[p.Device]; len(v) >= leastRows {
			f.devices[p.Device] = deviceShare{p.Arch, p.PerWatt, median(v)}
		}
	}
	least := math.Inf(1)
	for held := leastHeld; held <= mostHeld; held += heldStep {
		if apart := f.apart(held); apart < least-1e-9 {
			least, f.held = apart, held
		}
	}
	return f
}

// apart is the squared distances, in logarithms, of the devices' shares without their power limits
// from the median, which is no more than 1: no kernel is faster in a step than alone.
func (f *shareFit) apart(held float64) (sum float64) {
	var logs []float64
	for _, d := range f.devices {
		logs = append(logs, math.Log(d.share/hw.Clock(d.perWatt, held)))
	}
	usual := min(0, medianOrZero(logs))
	for _, x := range logs {
		sum += (x - usual) * (x - usual)
	}
	return sum
}

// unlimited is the share of a device whose power limit does not bind, without runs of its own: the median of the devices, since
// what remains beside the power limit is gaps and stragglers, hardly the device's; 0 where no run tells.
func (f *shareFit) unlimited() float64 {
	var shares []float64
	for _, d := range f.devices {
		shares = append(shares, d.share/hw.Clock(d.perWatt, f.held))
	}
	return medianOrZero(shares)
}

// of is the sustained share of a prediction's device, as hw.Sustained.Of has it: its own, that of its steady
// sibling or the usual one under the power limit; 0 where no run tells.
func (f *shareFit) of(p *Prediction) float64 {
	if d, ok := f.devices[p.Device]; ok {
		return d.share
	}
	clock := hw.Clock(p.PerWatt, f.held)
	if d, ok := f.devices[p.Steady]; ok {
		return min(1, d.share*clock/hw.Clock(d.perWatt, f.held))
	}
	return min(1, f.unlimited()*clock)
}
