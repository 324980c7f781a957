package validate

import (
	"strings"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/modelfile"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// model finds the run's architecture: a catalogue name with arch_params over it,
// an id in the configurations' folder, or arch_params alone.
func (p *Predictor) model(r *Run) (*model.Model, error) {
	of := func(m *model.Model, err error) (*model.Model, error) {
		if err != nil {
			return nil, wrong(err, "arch_params")
		}
		return m, nil
	}
	if p.Configs != "" && strings.Contains(r.Model, "/") {
		m, err := modelfile.Find(r.Model, p.Configs)
		if err != nil {
			return nil, wrong(err, "model")
		}
		return of(modelfile.Override(m, r.ArchParams))
	}
	m, err := catalog.Model(r.Model)
	switch {
	case err == nil && r.ArchParams != "":
		return of(modelfile.Override(m, r.ArchParams))
	case err == nil:
		return m, nil
	case r.ArchParams == "":
		return nil, wrong(err, "model")
	}
	return of(modelfile.FromArchParams(r.Model, r.ArchParams))
}

// precisionOf maps a table's word to a policy. Transformer Engine's per-tensor
// recipe is what Megatron calls fp8; DualPipe belongs to DeepSeek's own.
func precisionOf(r *Run) (plan.Precision, error) {
	word := strings.ToLower(r.Precision)
	if word == "fp8" && !strings.HasPrefix(r.Schedule, "dualpipe") {
		word = "fp8-tensor"
	}
	return plan.ParsePrecision(word)
}

// settleGradients is DeepSpeed's: FP16 accumulates in FP16 (arXiv:1910.02054 section 3.1),
// BF16 produces BF16 gradients and adds them to FP32 ones beside (runtime/bf16_optimizer.py).
func settleGradients(p *plan.Precision) {
	if p.GEMM == unit.FP16 {
		p.Gradients, p.GradReduce = unit.FP16, unit.FP16
		return
	}
	p.Produced = unit.BF16
}
