package hw

import (
	"math"
	"testing"

	"github.com/ridgeline/ridgeline/internal/unit"
)

func sheet(v float64) Figure { return Figure{Value: v, Grade: Datasheet, Source: "sheet"} }

// made is a device of a generation with so many multiplications per SM and so fast memory.
func made(name, arch string, perSM, hbm float64) *Device {
	d := &Device{Name: name, Arch: arch, SMs: 100}
	d.Peak.Matrix[unit.BF16], d.Peak.HBM, d.Peak.ScaleUp = sheet(100*perSM), sheet(hbm), sheet(450)
	d.DefaultNode.GPUs, d.DefaultNode.ScaleUpKind = 8, "nvlink"
	return d
}

// Shares come from the nearest measured device of like design and from no other.
func TestRelate(t *testing.T) {
	full, slower := made("full", "x", 10, 1000), made("slower", "x", 9, 1100)
	full.Achieved.Matrix[unit.BF16], full.Achieved.HBM, full.Achieved.ScaleUpReduce = sheet(800), sheet(900), sheet(480)
	other := made("other", "y", 10, 1000) // of another generation
	weak, elsewhere := made("weak", "x", 3, 2000), made("elsewhere", "z", 2, 500)
	strong := made("strong", "z", 4, 500)
	elsewhere.Achieved.Matrix[unit.BF16] = sheet(198)
	pair := made("pair", "x", 10, 1000)
	pair.DefaultNode.GPUs = 2
	Relate([]*Device{full, slower, other, weak, elsewhere, strong, pair})
	for _, c := range []struct {
		d                   *Device
		matrix, hbm, reduce float64
	}{
		{slower, 0.8, 0.9, 480. / 450},
		{other, 0, 0, 0},
		{weak, 0.99, 0, 480. / 450}, // its pipes wait for nothing, as those of elsewhere; its memory is another
		{strong, 0, 0, 0},           // twice the pipes of elsewhere
		{pair, 0.8, 0.9, 0},         // sums of another node's switch
	} {
		s := c.d.Siblings
		for _, x := range [][2]float64{{s.Matrix[unit.BF16], c.matrix}, {s.HBM, c.hbm}, {s.Reduce, c.reduce}} {
			if math.Abs(x[0]-x[1]) > 1e-12 {
				t.Errorf("%s: %v, want %v", c.d.Name, s, c)
				break
			}
		}
	}
}
