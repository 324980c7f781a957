package validate

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/mem"
)

// fastest is the device's best dense matrix rate of any format, FLOP/s; 0 = not known.
func fastest(d *hw.Device) (rate float64) {
	for _, f := range d.Peak.Matrix {
		rate = max(rate, f.Value)
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
	peak := fastest(d)
	if f := float64(x.Result.FLOPsPerToken) * r.TokensPerSecondPerGPU; peak > 0 && f > peak {
		return wrong(fmt.Errorf("%g make %.4g TFLOP/s, and a %s multiplies at most %.4g: is it of all GPUs?", r.TokensPerSecondPerGPU, f/1e12, d.Name, peak/1e12), "tokens_per_s_per_gpu")
	}
	unit := float64(engineOf(r).memory.unit)
	holds, weights := float64(d.Capacity())/unit, float64(x.Result.Memory[mem.Weights])/unit
	switch {
	case r.MemoryFigure == 0:
	case r.MemoryFigure > unheld*holds:
		return wrong(fmt.Errorf("%g, and a %s holds %.4g: correct it", r.MemoryFigure, d.Name, holds), "memory_gb")
	case unheld*r.MemoryFigure < weights:
		return wrong(fmt.Errorf("%g, and the weights alone take %.4g: correct it", r.MemoryFigure, weights), "memory_gb")
	}
	return nil
}
