package hw

import (
	"math"
	"slices"
)

// Sustained is the share of isolated kernels' speed that whole training steps of
// a generation hold: clocks fall under lasting load at the power limit, kernels
// leave gaps, ranks wait for the slowest. Fitted over published runs, see package
// validate; Assumed marks a generation without runs of its own.
type Sustained struct {
	// Share is that of a device whose power limit does not bind and without runs of its own: the median of the devices
	// with runs, of all generations, since what the power limit leaves is gaps and stragglers, hardly the device's; 0 = unknown.
	Share   float64
	Assumed bool
	Devices []DeviceShare
}

// DeviceShare is one device's share and where it comes from.
type DeviceShare struct {
	Device    string
	Share     float64
	PerWatt   float64 // Device.PerWatt of it where the runs were; 0 = not stated
	Rows      int
	Sources   []string
	Quartiles [2]float64 // of the single runs' shares
}

// What lasting load does to clocks. Kernels are measured in bursts, which a cool device runs
// above what its power limit lets it hold. Power grows with the clock f like f in the floor of
// the voltage and like f^3 above it; the square between leaves sqrt(limit/demand) of the clock.
const (
	// HeldPerWatt is the 16-bit FLOP/s of the datasheet for each watt of the power limit above which clocks
	// fall, fitted to the shares of A100, H100, B200 and GB200 over published runs
	// (TestStoredConstantsAreTheFit of package validate).
	HeldPerWatt = 1.19e12
	// usualPerWatt stands in where a power limit is not published: the middle of the data
	// centre's accelerators in the catalogue, 0.7 to 2.3 TFLOP/s.
	usualPerWatt = 1.4e12
)

// Clock is the share of its clock that a device holds under lasting load: perWatt is the 16-bit
// FLOP/s of its datasheet for each watt of its power limit (0 = not known), held
// the most that it holds without slowing down, FLOP/s and watt.
func Clock(perWatt, held float64) float64 {
	if perWatt <= 0 {
		perWatt = usualPerWatt
	}
	return min(1, math.Sqrt(held/perWatt))
}

// Of is the share of a device of perWatt, see Clock: that of the first of the devices that has one of its own,
// such as the device and the one named in its Shares.Steady, with what another power limit makes of it;
// else the usual one under the power limit, 1 where nothing is known.
func (s *Sustained) Of(perWatt float64, devices ...string) float64 {
	for _, name := range devices {
		if i := s.index(name); i >= 0 {
			d := &s.Devices[i]
			if d.PerWatt <= 0 || perWatt <= 0 {
				return d.Share
			}
			return min(1, d.Share*Clock(perWatt, HeldPerWatt)/Clock(d.PerWatt, HeldPerWatt))
		}
	}
	if s.Share > 0 {
		return s.Share * Clock(perWatt, HeldPerWatt)
	}
	return 1
}

// index is the place of a device among those with shares of their own, -1 = it has none.
func (s *Sustained) index(device string) int {
	return slices.IndexFunc(s.Devices, func(x DeviceShare) bool { return x.Device == device })
}

// Measured tells whether runs of the device stand behind its share.
func (s *Sustained) Measured(device string) bool { return !s.Assumed && s.index(device) >= 0 }

// SustainedBy is a device's own share with its origin, in place of its generation's.
func SustainedBy(device string, f Figure) Sustained {
	return Sustained{Share: f.Value, Assumed: f.Grade == Assumed, Devices: []DeviceShare{{Device: device, Share: f.Value, Sources: []string{f.Source}}}}
}

// Figure is the share of SustainedBy with its origin.
func (s *Sustained) Figure() Figure {
	if !s.Assumed && len(s.Devices) == 1 && len(s.Devices[0].Sources) > 0 {
		return Figure{Value: s.Devices[0].Share, Grade: Measured, Source: s.Devices[0].Sources[0]}
	}
	return Figure{Value: s.Share, Grade: Assumed, Source: "machine file"}
}

// Same tells whether two have the same shares for the same devices.
func (s *Sustained) Same(t *Sustained) bool {
	return s.Share == t.Share && s.Assumed == t.Assumed && slices.EqualFunc(s.Devices, t.Devices, func(a, b DeviceShare) bool {
		return a.Device == b.Device && a.Share == b.Share
	})
}
