package validate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// ServingPredictor predicts serving runs. The zero value knows the catalogue's
// models; it keeps engines that several runs share and serves one goroutine.
type ServingPredictor struct {
	Configs string // folder of Hugging Face configurations, "" = none
	// Machine, where set, stands in for the catalogue's: a calibrated one, of which the runs
	// take as many GPUs as they say. Runs of another GPU are wrong.
	Machine *hw.Cluster
	// Profile, where set, stands in for the profile that is stored for an engine's version
	// and a GPU generation; a fit tries its constants by it.
	Profile func(engine, version, arch string) (*infer.Profile, error)

	ctx      context.Context // ends predictions early; nil = never
	models   map[string]*model.Model
	clusters map[string]*hw.Cluster
	engines  map[engineKey]*builtEngine
}

// ServingPrediction is one run predicted, seconds.
type ServingPrediction struct {
	TTFT, TPOT unit.Seconds
	Arch       string      // GPU generation
	Device     string      // catalogue name
	MoE        bool        // the model routes experts
	Point      infer.Point // of one instance; aggregated runs
	Bound      string
	Ranges     *infer.Ranges
	Floor      unit.Seconds // of a token
	decoder    *infer.Engine
	each       float64 // most tokens that a sequence has of a step
	Tails      bool    // the load is far enough from saturation for a range of TTFT
}

// engineKey is what makes two runs share an engine.
type engineKey struct {
	model, gpu, engine, version, weights, experts string
	plan                                          plan.Serving
	context                                       int
	mtp                                           bool
}

// rowError is what is wrong with a row, by its columns: a name that nothing stands for, or
// cells that contradict each other or the model. Other errors of a prediction say that the
// row may be right and cannot be predicted.
type rowError struct {
	columns []string
	err     error
}

func wrong(err error, columns ...string) error { return &rowError{columns, err} }

func (e *rowError) Error() string { return columnsNamed(e.columns) + ": " + e.err.Error() }
func (e *rowError) Unwrap() error { return e.err }

// columnsNamed is columns as messages call them.
func columnsNamed(columns []string) string {
	quoted := make([]string, len(columns))
	for i, c := range columns {
		quoted[i] = strconv.Quote(c)
	}
	if len(quoted) == 1 {
		return "column " + quoted[0]
	}
	return "columns " + strings.Join(quoted, ", ")
}

// isWrong tells rows that are wrong from those that cannot be predicted.
func isWrong(err error) bool {
	var w *rowError
	return errors.As(err, &w)
}

type builtEngine struct {
	engine  *infer.Engine
	stepper infer.Stepper
	spec    *infer.Speculation
	cluster *hw.Cluster
	err     error
}

// Predict predicts one run from its description. The error says in one line what
// stands in the way.
func (p *ServingPredictor) Predict(r *ServingRun) (*ServingPrediction, error) {
	if err := p.interrupted(); err != nil {
		return nil, err
	}
	if r.Split != nil {
		return p.split(r)
	}
	b := p.build(r, r.Plan, r.GPUs)
	if b.err != nil {
		return nil, b.err
	}
	each := (r.Concurrency + r.Plan.Replicas - 1) / r.Plan.Replicas
	isl, osl := r.lengths()
	if err := r.withinContext(b.engine.Setup().Model); err != nil {
		return nil, err
	}
	s, err := infer.Steady(b.engine, &infer.Load{ISL: isl, OSL: osl, Concurrency: int64(each), Spec: b.spec, Stepper: b.stepper, Fixed: !r.Varied})
	if err != nil {
		return nil, err
	}
	d := b.cluster.Device
	return &ServingPrediction{TTFT: s.TTFT, TPOT: s.TPOT, Arch: d.Arch, Device: d.Name, MoE: b.engine.Setup().Model.MoE(), Point: s, Bound: s.Bound.String(),
		Ranges: b.engine.Ranges(), Floor: s.Step.Floor / unit.Seconds(b.spec.Tokens()), Tails: s.Valid(), decoder: b.engine, each: mostTokens(b.spec)}, nil
}

// withinContext refuses requests longer than the model's context; of varied lengths, where
// their mean is.
func (r *ServingRun) withinContext(m *model.Model) error {
	isl, osl := r.lengths()
	if m.MaxContext <= 0 || isl+osl <= m.MaxContext {
		return nil
	}
	mean := ""
	if r.Varied {
		mean = fmt.Sprintf(", %d on the mean of lengths that vary,", isl+osl)
	}
	return wrong(fmt.Errorf("a request of %d + %d tokens%s exceeds the context of %s, %d: correct one of them", r.ISL, r.OSL, mean, m.Name, m.MaxContext), "isl", "osl")
}

// build makes the engine of a run's layout, once for all runs that share it.
func (p *ServingPredictor) build(r *ServingRun, x plan.Serving, gpus int) *builtEngine {
	k := engineKey{r.Model, clusterName(r.GPU, gpus), r.Engine, r.Version, r.Weights, r.Experts, x, r.ISL + r.OSL, r.speculates()}
	if b := p.engines[k]; b != nil {
		return b
	}
	b := &builtEngine{}
	b.err = p.make(r, x, gpus, b)
	if p.engines == nil {
		p.engines = map[engineKey]*builtEngine{}
	}
	p.engines[k] = b
	return b
}

func (p *ServingPredictor) make(r *ServingRun, x plan.Serving, gpus int, b *builtEngine) error {
	m, err := p.model(r.Model)
	if err != nil {
		return wrong(err, "model")
	}
	if b.cluster, err = p.cluster(r.GPU, gpus); err != nil {
		return wrong(err, "gpu")
	}
	if err := x.Check(m, b.cluster.GPUs); err != nil {
		return wrong(err, r.layoutColumns()...)
	}
	if r.speculates() && len(m.MTP) == 0 {
		return wrong(fmt.Errorf("%s has no module that drafts (MTP): give none", m.Name), "spec_decode")
	}
	s := &infer.Setup{Model: m, Cluster: b.cluster, Plan: x, Context: int64(r.ISL + r.OSL), MaxSequences: sequences(r)}
	if s.Profile, err = p.profile(r.Engine, r.Version, b.cluster.Device.Arch); err != nil {
		return wrong(err, "engine")
	}
	if s.Weights, s.Experts, err = r.formats(m); err != nil {
		return err
	}
	s.KV = cacheFormat(s)
	if r.speculates() {
		if b.spec, err = infer.ParseSpeculation(drafts); err != nil {
			return err
		}
		s.MTP = 1
	}
	if b.engine, err = fitting(s); err != nil {
		return err
	}
	b.stepper = b.engine
	if b.spec != nil {
		if b.stepper, err = infer.NewSpeculative(b.engine, b.spec, nil); err != nil {
			return err
		}
	}
	return nil
}

// fullMemory is the largest share of a device that an operator gives an engine:
// what the context of the driver leaves.
const fullMemory = 0.97

// fitting is the engine with the usual share of memory, or with the largest one
// where only that holds the weights: the run did fit.
func fitting(s *infer.Setup) (*infer.Engine, error) {
	e, err := infer.New(s)
	var full *infer.MemoryError
	if errors.As(err, &full) {
		s.Utilization = fullMemory
		e, err = infer.New(s)
	}
	return e, err
}

// sequences is the engine's limit per replica: raised to what the run keeps in
// flight, as an operator would.
func sequences(r *ServingRun) int64 { return max(infer.DefaultSequences, int64(r.Concurrency)) }

// drafts is what a row that only says mtp is taken to draft: three tokens, as the
// engines' published recipes of these runs do, at the measured acceptance.
const drafts = "mtp:3"

func (r *ServingRun) speculates() bool {
	return r.Speculation != "" && !strings.EqualFold(r.Speculation, "none")
}

// formats are the row's formats in Ridgeline's terms. Tables say fp8 of checkpoints
// with a scale per block as well, which the model's own configuration tells.
func (r *ServingRun) formats(m *model.Model) (weights, experts unit.Format, err error) {
	parse := func(column, word string) unit.Format {
		f, ok := unit.ParseFormat(strings.ReplaceAll(strings.ToLower(word), "_", "-"))
		if !ok && err == nil {
			err = wrong(fmt.Errorf("format %q is unknown: give bf16, fp8, fp8_block, nvfp4, mxfp4 or int4", word), column)
		}
		return f
	}
	weights = parse("weights", r.Weights)
	experts = weights
	if r.Experts != "" {
		experts = parse("expert_weights", r.Experts)
	}
	if weights == unit.FP8 && m.Checkpoint.Weights == unit.FP8Block {
		weights = unit.FP8Block
	}
	if experts == unit.FP8 && cmp.Or(m.Checkpoint.Experts, m.Checkpoint.Weights) == unit.FP8Block {
		experts = unit.FP8Block
	}
	return weights, experts, err
}

// cacheFormat is the cache of a deployment whose table does not name one: 8 bits
// where its linears have at most 8, as quantised checkpoints come with scales for
// the cache, and, on GPUs that multiply 4 bits, where its experts have: published recipes
// set it there and leave it to the engine on others (InferenceX at 843c625, gptoss_fp4_b200
// and gptoss_fp4_h200); 16 bits otherwise. Checkpoints with a scale per block have none for the
// cache: SGLang, left alone, then keeps it in the model's 16 bits (kv_cache_dtype auto of
// server_args.py; glm5_fp8_h200 sets none, dsr1_fp8_b200 does). So would vLLM, whose rows on such
// GPUs contradict each other: half of MiniMax-M2.5's hold on an H100 what only 8 bits leave room for.
func cacheFormat(s *infer.Setup) unit.Format {
	bits := s.Weights.Bits()
	switch {
	case s.Cluster.Device.BlockScaled():
		bits = min(bits, s.Experts.Bits())
	case s.Profile.Engine == sglang && (s.Weights == unit.FP8Block || s.Experts == unit.FP8Block):
		return unit.BF16
	}
	if bits <= 8 {
		return unit.FP8
	}
	return unit.BF16
}

const sglang = "sglang"
