package infer_test

import (
	"errors"
	"math"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
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

// Whatever a GPU multiplies, each format of weights has a time on it: those without BF16
// multiply in FP16, those without FP8 or FP4 widen, and no kernel is taken that the GPU
// cannot run (those answered NaN).
func TestEveryGPUPricesEveryFormat(t *testing.T) {
	for _, d := range catalog.Devices() {
		for _, model := range []string{"deepseek-r1", "gpt-oss-20b", "llama-3.1-8b"} {
			for _, w := range []unit.Format{unit.BF16, unit.FP8, unit.FP8Block, unit.INT4, unit.NVFP4, unit.MXFP4} {
				e := alone(t, d.Name, model, w, w)
				if e == nil {
					break // a rate is missing, and the catalogue says which
				}
				for _, b := range []infer.Batch{{Decode: 1, DecodeContext: 1024}, {Prefill: 1024, PrefillPairs: 1024 * 1024 / 2, Prompts: 1}} {
					s := e.Step(&b)
					if ok := s.Floor > 0 && s.Floor <= s.Total && s.Total <= s.Upper && !math.IsInf(float64(s.Upper), 0); !ok {
						t.Errorf("%s, %s in %v: a step takes %v to %v to %v", d.Name, model, w, s.Floor, s.Total, s.Upper)
					}
				}
			}
		}
	}
}

// alone is a model on one GPU, whether it fits or not; nil = the GPU cannot be priced.
func alone(t *testing.T, gpu, model string, w, experts unit.Format) *infer.Engine {
	t.Helper()
	c, err := catalog.Cluster(gpu + "x1")
	if err != nil {
		return nil
	}
	m, err := catalog.Model(model)
	if err != nil {
		t.Fatal(err)
	}
	e, err := infer.New(&infer.Setup{Model: m, Cluster: c, Plan: plan.Serving{TP: 1}, Weights: w, Experts: experts, KV: unit.BF16})
	var full *infer.MemoryError
	if err != nil && !errors.As(err, &full) {
		return nil
	}
	return e
}

// A GPU with no peak below its sibling's is not slower by more than a tenth: figures that only one of both was
// measured in must not turn them round.
func TestSiblingsKeepTheirOrder(t *testing.T) {
	for _, pair := range [][2]string{{"mi325x", "mi300x"}, {"gb300-nvl72", "gb200-nvl72"}, {"h20-141gb", "h20-96gb"}, {"a100-sxm-80gb", "a100-sxm-40gb"}, {"l40s", "l40"}, {"l40", "l20"}, {"h200-sxm", "h100-sxm"}} {
		for _, model := range []string{"gpt-oss-20b", "llama-3.1-8b"} {
			m, err := catalog.Model(model)
			if err != nil {
				t.Fatal(err)
			}
			w, x, _ := infer.CheckpointFormats(m)
			step := func(gpu string) float64 {
				return float64(alone(t, gpu, model, w, x).Step(&infer.Batch{Decode: 16, DecodeContext: 16 * 1024}).Total)
			}
			if better, worse := step(pair[0]), step(pair[1]); better > 1.1*worse {
				t.Errorf("%s: %.2f ms a step on %s, %.2f on %s", model, 1e3*better, pair[0], 1e3*worse, pair[1])
			}
		}
	}
}
