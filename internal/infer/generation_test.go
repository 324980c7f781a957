package infer_test

import (
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// GPUs of one design that nobody timed take the kernels and the engine of the one that
// was: with no figure below B200's, none is slower than it by more than a tenth (it was 2.5
// times for the lack of an SM count), nor faster than their figures say.
func TestSiblingsAreAboutAsFast(t *testing.T) {
	for _, engine := range []string{"vllm", "sglang", "trtllm"} {
		base := steady(t, deploy(t, "b200x8", plan.Serving{TP: 8}, engine), 1024, 1024, 64, nil)
		for _, cluster := range []string{"gb200x8", "b300x8", "gb300x8"} {
			got := steady(t, deploy(t, cluster, plan.Serving{TP: 8}, engine), 1024, 1024, 64, nil)
			if got.TPOT > 1.1*base.TPOT || got.TPOT < base.TPOT/1.2 {
				t.Errorf("%s on %s: %.2f ms per token, %.2f on B200", engine, cluster, 1e3*got.TPOT, 1e3*base.TPOT)
			}
			if got.TTFT > 1.1*base.TTFT {
				t.Errorf("%s on %s: %.0f ms to the first token, %.0f on B200", engine, cluster, 1e3*got.TTFT, 1e3*base.TTFT)
			}
		}
	}
}

// Without an SM count all items are one wave: less is charged than by one SM after the other.
func TestUnknownSMsAreOneWave(t *testing.T) {
	of := func(sms int64) infer.Point {
		return steady(t, deploy(t, "h200x8", plan.Serving{TP: 8}, "vllm", func(s *infer.Setup) {
			d := *s.Cluster.Device
			d.SMs = sms
			c := *s.Cluster
			c.Device, s.Cluster = &d, &c
		}), 1024, 1024, 64, nil)
	}
	if known, unknown := of(132), of(0); unknown.TPOT > 1.15*known.TPOT || unknown.TPOT < known.TPOT/2 {
		t.Errorf("%.2f ms per token without an SM count, %.2f with it", 1e3*unknown.TPOT, 1e3*known.TPOT)
	}
}

// Every GPU that takes a measured generation's kernels says how many SMs it has.
func TestMeasuredGenerationsCountSMs(t *testing.T) {
	for _, d := range catalog.Devices() {
		if k := d.Kernels; k != nil && !k.Vector && len(k.Devices) > 0 && d.SMs == 0 {
			t.Errorf("%s has the kernels of %s and no SM count", d.Name, k.Arch)
		}
	}
	if k := catalog.Kernels("blackwell-ultra"); k.Arch != "blackwell" {
		t.Errorf("Blackwell Ultra takes the kernels of %s", k.Arch)
	}
	if p, err := infer.FindProfile("vllm", "blackwell-ultra"); err != nil || p.Arch != "blackwell" {
		t.Errorf("Blackwell Ultra takes the overheads of %+v: %v", p, err)
	}
}
