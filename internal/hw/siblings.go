package hw

import (
	"math"
	"slices"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// Shares of its datasheet figures that a device without a measurement of its own is taken
// to reach: those of the nearest measured device of like design, 0 = there is none.
type Shares struct {
	Matrix [unit.NumFormats]float64
	HBM    float64
	// ScaleUp and Reduce are both of the scale-up link's rate; in-switch sums may pass it.
	ScaleUp, Reduce float64
	// Steady names the device in whose runs the share that lasting load holds was measured:
	// one of the design in the same kind of node, with its power and cooling; "" = none.
	Steady string
	// Demand is the 16-bit multiplications of its datasheet, FLOP/s, which its power limit has to
	// feed; what is measured of it later changes nothing of that.
	Demand float64
}

// alike is how far apart the multiplications of an SM of two devices of one generation may
// lie for both to be the same design at other clocks.
const alike = 1.25

// sameChips is how far apart the memory rates of two devices of a generation may lie for
// both to have the same chips at other clocks: 5.3 and 6 TB/s of MI300X and MI325X do.
const sameChips = 1.15

// spare is the part of its generation's fullest SM up to which a device's multiplies so
// little that neither its power limit nor its memory holds the pipes back: GeForce cards
// accumulate in FP32 at half the rate (NVIDIA Ada GPU architecture whitepaper v2.1, appendix
// A), an H20 has a quarter of an H100's pipes.
const spare = 0.55

// half is the BF16 or FP16 multiplications of the datasheet, FLOP/s.
func (d *Device) half() float64 {
	return max(d.Peak.Matrix[unit.BF16].Value, d.Peak.Matrix[unit.FP16].Value)
}

// perSM is those of one SM; 0 = not known.
func (d *Device) perSM() float64 {
	if d.SMs <= 0 {
		return 0
	}
	return d.half() / float64(d.SMs)
}

// PerWatt is the design's demand for each watt of the device's power limit, FLOP/s, see Clock;
// 0 where one of them is not known.
func (d *Device) PerWatt() float64 {
	if d.Peak.TDP.Value <= 0 {
		return 0
	}
	return d.Siblings.Demand / d.Peak.TDP.Value
}

// Relate gives every device the shares that its nearest measured siblings among all reach:
//
//	matrix  devices of the generation with as strong SMs; where SMs are weak (see spare),
//	        any other device with weak ones
//	memory  devices of the generation with about the same rate, and so the same chips
//	links   devices of the generation's design with the same link and node
func Relate(all []*Device) {
	fullest := map[string]float64{}
	for _, d := range all {
		fullest[d.Arch] = max(fullest[d.Arch], d.perSM())
	}
	weak := func(d *Device) bool { return d.perSM() > 0 && d.perSM() <= spare*fullest[d.Arch] }
	for _, d := range all {
		near := func(x *Device) float64 {
			return apart(d.perSM(), x.perSM()) * apart(d.Peak.TDP.Value, x.Peak.TDP.Value)
		}
		chip := func(x *Device) bool {
			return x.Arch == d.Arch && d.perSM() > 0 && x.perSM() > 0 && apart(d.perSM(), x.perSM()) <= alike
		}
		memory := func(x *Device) bool {
			return x.Arch == d.Arch && d.Peak.HBM.Known() && x.Peak.HBM.Known() && apart(d.Peak.HBM.Value, x.Peak.HBM.Value) <= sameChips
		}
		link := func(x *Device) bool {
			return Generation(x.Arch) == Generation(d.Arch) && x.Peak.ScaleUp.Value == d.Peak.ScaleUp.Value &&
				x.DefaultNode.ScaleUpKind == d.DefaultNode.ScaleUpKind && x.DefaultNode.GPUs == d.DefaultNode.GPUs
		}
		s := &d.Siblings
		s.Demand = d.half()
		for f := range unit.NumFormats {
			of := func(x *Device) (Figure, Figure) { return x.Achieved.Matrix[f], x.Peak.Matrix[f] }
			s.Matrix[f] = nearest(all, chip, near, of)
			if s.Matrix[f] == 0 && weak(d) {
				s.Matrix[f] = nearest(all, weak, near, of)
			}
		}
		s.HBM = nearest(all, memory, near, func(x *Device) (Figure, Figure) { return x.Achieved.HBM, x.Peak.HBM })
		s.ScaleUp = nearest(all, link, near, func(x *Device) (Figure, Figure) { return x.Achieved.ScaleUp, x.Peak.ScaleUp })
		if i := slices.IndexFunc(all, func(x *Device) bool { return link(x) && x.Kernels != nil && x.Kernels.Sustained.Measured(x.Name) }); i >= 0 {
			s.Steady = all[i].Name
		}
		s.Reduce = nearest(all, link, near, func(x *Device) (Figure, Figure) { return x.Achieved.ScaleUpReduce, x.Peak.ScaleUp })
	}
}

// apart is the larger of two figures over the smaller, 1 where one is not known.
func apart(a, b float64) float64 {
	if a <= 0 || b <= 0 {
		return 1
	}
	return max(a/b, b/a)
}

// nearest is the share of peak that the first of the nearest devices among those that fit
// achieved; 0 = none has it measured.
func nearest(all []*Device, fit func(*Device) bool, near func(*Device) float64, of func(*Device) (achieved, peak Figure)) float64 {
	best, share := math.Inf(1), 0.0
	for _, x := range all {
		a, p := of(x)
		if n := near(x); a.Known() && p.Known() && fit(x) && (n < best || share == 0) {
			best, share = n, a.Value/p.Value
		}
	}
	return share
}
