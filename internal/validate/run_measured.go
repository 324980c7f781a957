package validate

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/mem"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// fastest is the device's dense matrix peak for a job's products, FLOP/s, the faster of their format's and
// BF16's, which its attention and head keep; of a format without a peak of its own, the best of any; 0 = not known.
func fastest(d *hw.Device, f unit.Format) (rate float64) {
	if own := d.Peak.Matrix[f]; own.Known() {
		return max(own.Value, d.Peak.Matrix[unit.BF16].Value)
	}
	for _, peak := range d.Peak.Matrix {
		rate = max(rate, peak.Value)
	}
	return rate
}

// unheld is how many times the GPU's memory a measured figure may be, and the predicted
// weights a measured one: counters and units of sources differ by a few per cent.
const unheld = 1.1

// checkMeasured refuses figures that the model on this GPU cannot have. It says nothing of
// how far they are from a prediction.
func (r *Run) checkMeasured(x *Prediction) error {
	d := x.gpu
	format := x.Result.Plan.Precision.GEMM
	peak := fastest(d, format)
	if f := float64(x.Result.FLOPsPerToken) * r.TokensPerSecondPerGPU; peak > 0 && f > peak {
		return wrong(fmt.Errorf("%g make %.4g TFLOP/s, and a %s multiplies %s at most at %.4g: is it of all GPUs?", r.TokensPerSecondPerGPU, f/1e12, d.Name, strings.ToUpper(format.String()), peak/1e12), "tokens_per_s_per_gpu")
	}
	per := float64(engineOf(r).memory.unit)
	holds, weights := float64(d.Capacity())/per, float64(x.Result.Memory[mem.Weights])/per
	switch {
	case r.MemoryFigure == 0:
	case r.MemoryFigure > unheld*holds:
		return wrong(fmt.Errorf("%g, and a %s holds %.4g: correct it", r.MemoryFigure, d.Name, holds), "memory_gb")
	case unheld*r.MemoryFigure < weights:
		return wrong(fmt.Errorf("%g, and the weights alone take %.4g: correct it", r.MemoryFigure, weights), "memory_gb")
	}
	return nil
}
