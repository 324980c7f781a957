package hw

import (
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// A rate that was not measured is the measured share of the format on the same
// multipliers, then the peak; a format the device lacks stays absent.
func TestMatrixRate(t *testing.T) {
	d := &Device{Name: "x"}
	d.Peak.Matrix[unit.BF16] = Figure{Value: 1000, Grade: Datasheet, Source: "sheet"}
	d.Peak.Matrix[unit.FP16] = Figure{Value: 1000, Grade: Datasheet, Source: "sheet"}
	d.Peak.Matrix[unit.FP8] = Figure{Value: 2000, Grade: Datasheet, Source: "sheet"}
	d.Peak.Matrix[unit.FP8Block] = Figure{Value: 1800, Grade: Datasheet, Source: "sheet"}
	d.Peak.Matrix[unit.TF32] = Figure{Value: 500, Grade: Datasheet, Source: "sheet"}
	d.Achieved.Matrix[unit.FP16] = Figure{Value: 800, Grade: Measured, Source: "bench"}
	d.Achieved.Matrix[unit.FP8] = Figure{Value: 1500, Grade: Measured, Source: "bench"}
	for _, c := range []struct {
		format unit.Format
		want   float64
		grade  Grade
	}{
		{unit.FP16, 800, Measured},
		{unit.BF16, 800, Assumed},
		{unit.FP8Block, 1350, Assumed}, // 1500/2000 of its own peak of 1800
		{unit.TF32, 500, Datasheet},
		{unit.MXFP8, 0, Absent}, // no peak: the device lacks it
		{unit.NVFP4, 0, Absent},
	} {
		got := d.MatrixRate(c.format)
		if got.Value != c.want || got.Grade != c.grade || got.Known() != (got.Source != "") {
			t.Errorf("%v: %+v, want %g %v", c.format, got, c.want, c.grade)
		}
	}
}

func TestWords(t *testing.T) {
	for g := Absent; g <= Measured; g++ {
		if back, ok := ParseGrade(g.String()); !ok || back != g {
			t.Errorf("grade %v reads back as %v", g, back)
		}
	}
	for c := ByMaker; c <= BySecondary; c++ {
		if back, ok := ParseConfidence(c.String()); !ok || back != c {
			t.Errorf("confidence %v reads back as %v", c, back)
		}
	}
	if _, ok := ParseGrade("certain"); ok {
		t.Error("an unknown grade passed")
	}
}

func good() *Cluster {
	d := &Device{Name: "x"}
	d.Peak.ScaleUp = Figure{Value: 1, Grade: Datasheet, Source: "sheet"}
	return &Cluster{
		Name: "c", Device: d, GPUs: 16,
		Node:   NodeSpec{GPUs: 8, NIC: Figure{Value: 1, Grade: Datasheet, Source: "sheet"}},
		Fabric: Fabric{Oversubscription: 1},
	}
}

func TestValidate(t *testing.T) {
	if err := good().Validate(); err != nil || good().Nodes() != 2 {
		t.Fatalf("%v, %d nodes", err, good().Nodes())
	}
	for says, breakIt := range map[string]func(*Cluster){
		"has no device":            func(c *Cluster) { c.Device = nil },
		"has 0 GPUs":               func(c *Cluster) { c.GPUs = 0 },
		"0 GPUs per node":          func(c *Cluster) { c.Node.GPUs = 0 },
		"use a multiple of 8":      func(c *Cluster) { c.GPUs = 12 },
		"no scale-up rate":         func(c *Cluster) { c.Device.Peak.ScaleUp = Figure{} },
		"no NIC rate is known":     func(c *Cluster) { c.Node.NIC = Figure{} },
		"use 1 for full bisection": func(c *Cluster) { c.Fabric.Oversubscription = 0.5 },
	} {
		c := good()
		breakIt(c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line with %q", err, says)
		}
	}
	one := good()
	one.GPUs, one.Device.Peak.ScaleUp, one.Node.NIC = 1, Figure{}, Figure{}
	if err := one.Validate(); err != nil {
		t.Errorf("a single GPU needs no links: %v", err)
	}
}
