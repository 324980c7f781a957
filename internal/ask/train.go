package ask

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ridgeline/ridgeline/internal/advise"
	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Train is a question about training: the job, the machine and the terms as they
// were typed.
type Train struct {
	Flags *pflag.FlagSet
	// Notes are what the asker should know of the request that was made.
	Notes note.List

	model, cluster, plan, precision          string
	batch, seq, mtp, top                     int64
	limit                                    float64
	exhaustive, alone                        bool
	against, sweep                           string
	turn                                     map[advise.Knob]float64
	tokens                                   int64
	price                                    float64
	step, mtbf, checkpoint, interval, resume unit.Seconds
}

// NewTrain is a question with nothing given.
func NewTrain() *Train {
	f := &Train{Flags: pflag.NewFlagSet("train", pflag.ContinueOnError), precision: "bf16", top: 5}
	fs := f.Flags
	fs.StringVar(&f.model, "model", "", "`MODEL`: catalogue name, Hugging Face id, config.json, model folder or GGUF file")
	fs.StringVar(&f.cluster, "cluster", "", "`CLUSTER`: GPU and count such as h800x2048, a catalogue name or a YAML file")
	fs.StringVar(&f.plan, "plan", "", "`KEYS` to fix, such as fsdp or pp=16,ep=64,zero=1; all others are searched")
	Count(fs, &f.batch, "global-batch", "sequences per optimizer step over all GPUs")
	Count(fs, &f.seq, "seq", "tokens per sequence")
	fs.StringVar(&f.precision, "precision", f.precision, "`POLICY`: bf16, fp16, fp8 (DeepSeek-V3's), fp8-tensor, mxfp8 or nvfp4, with settings such as fp8,moment=fp32")
	Count(fs, &f.mtp, "mtp", "multi-token-prediction modules trained along (default 0)")
	Count(fs, &f.top, "top", "plans to list (default 5)")
	fs.Var(Quantity(&f.limit, unit.ParseFraction, "share", "0.94"), "memory-limit", "usable share of device memory")
	Switch(fs, &f.exhaustive, "exhaustive", "lay out every plan that fits instead of skipping those a bound proves slower")
	Switch(fs, &f.alone, "alone", "answer for the plan of --plan without comparing it with others")
	fs.StringVar(&f.against, "against", "", "`KEYS` of the plan to compare with, in place of the best of all")
	fs.Var(Quantity(&f.turn, parseTurn, "FIGURE=FACTOR", ""), "turn", "scale figures of the cluster, peak and achieved: network=0.5,hbm=2; "+strings.Join(knobs(), ", "))
	fs.StringVar(&f.sweep, "sweep", "", "turn one `FIGURE` and show which listed plan wins where: "+strings.Join(advise.KnobWords(), ", "))
	Count(fs, &f.tokens, "tokens", "tokens of the whole run, such as 14.8T, for days and cost")
	fs.Var(Quantity(&f.price, parsePrice, "USD", ""), "price", "price of a GPU-hour (default: the cluster file's)")
	Duration(fs, &f.step, "step-time", "measured step time, in place of the estimate, for days and cost")
	Duration(fs, &f.mtbf, "mtbf", "mean time between failures of one GPU, such as 50000h: days then include failures")
	Duration(fs, &f.checkpoint, "checkpoint-time", "pause per checkpoint (default 1min with --mtbf)")
	Duration(fs, &f.interval, "checkpoint-interval", "time between checkpoints (default: the best one)")
	Duration(fs, &f.resume, "restart", "time from a failure to training again (default 10min with --mtbf)")
	return f
}

// Request resolves the question.
func (f *Train) Request(find Finder) (*api.TrainRequest, error) {
	if err := Required(f.Flags, "model", "cluster", "global-batch", "seq"); err != nil {
		return nil, err
	}
	if err := NotEmpty(f.Flags, "plan", "against"); err != nil {
		return nil, err
	}
	if err := NotZero(f.Flags, "memory-limit", "tokens", "step-time", "mtbf", "checkpoint-interval"); err != nil {
		return nil, err
	}
	r := &api.TrainRequest{GlobalBatch: int(f.batch), Seq: int(f.seq), MTP: int(f.mtp), Top: int(f.top),
		MemoryLimit: f.limit, Exhaustive: f.exhaustive, Alone: f.alone}
	var err error
	if r.Cluster, err = find.Cluster(f.cluster); err != nil {
		return nil, err
	}
	for k := range advise.NumKnobs {
		if by := f.turn[k]; by > 0 {
			r.Cluster = advise.Turn(r.Cluster, k, by)
		}
	}
	if r.Model, err = find.Model(f.model); err != nil {
		return nil, err
	}
	if r.Precision, err = plan.ParsePrecision(f.precision); err != nil {
		return nil, note.Of("precision", err)
	}
	if r.Fixed, err = plan.Parse(f.plan); err == nil {
		err = r.Fixed.Moot(r.Model)
	}
	if err != nil {
		return nil, note.Of("plan", err)
	}
	if f.Flags.Changed("against") {
		if r.Against, err = plan.Parse(f.against); err != nil {
			return nil, fmt.Errorf("--against: %w", err)
		}
	}
	if f.Flags.Changed("sweep") {
		k, ok := advise.ParseKnob(f.sweep)
		if !ok {
			return nil, UnknownWord("figure of --sweep", f.sweep, advise.KnobWords(), "use "+strings.Join(advise.KnobWords(), ", "))
		}
		r.Sweep = &k
	}
	if f.top < 1 || f.top > 1000 {
		return nil, fmt.Errorf("--top %d: give 1 to 1000", f.top)
	}
	r.Terms, err = f.terms(r.Cluster)
	return r, err
}

// terms fills what a whole run costs from flags and cluster.
func (f *Train) terms(c *hw.Cluster) (train.Terms, error) {
	t := train.Terms{Tokens: float64(f.tokens), Price: f.price, PowerPerGPU: c.PowerPerGPU, StepOverride: f.step,
		GPUMTBF: f.mtbf, Checkpoint: f.checkpoint, Interval: f.interval, Restart: f.resume}
	if !f.Flags.Changed("price") { // 0 is a price: free
		t.Price = c.PricePerGPUHour
	}
	if t.PowerPerGPU == 0 {
		t.PowerPerGPU = c.Device.Peak.TDP.Value
	}
	if t.GPUMTBF == 0 {
		t.GPUMTBF = c.GPUMTBF
	}
	return t, f.failures(&t)
}

// failures settles what failures cost: their pauses have defaults once a time
// between failures is known, and without a length of the run they cost nothing.
func (f *Train) failures(t *train.Terms) error {
	given := f.Flags.Changed
	for _, name := range []string{"checkpoint-time", "checkpoint-interval", "restart"} {
		switch {
		case !given(name):
		case t.GPUMTBF == 0:
			return fmt.Errorf("--%s needs --mtbf, the time between failures of one GPU", name)
		case t.Tokens == 0:
			return fmt.Errorf("--%s needs --tokens, the length of the run: add for example --tokens 1T", name)
		}
	}
	switch {
	case t.GPUMTBF == 0:
	case t.Tokens == 0 && given("mtbf"):
		return fmt.Errorf("--mtbf needs --tokens, the length of the run: add for example --tokens 1T")
	case t.Tokens == 0:
		t.GPUMTBF = 0
		f.Notes = append(f.Notes, note.New(note.FailuresLeftOut, "", "the cluster's failures are left out: they cost time of a whole run, give --tokens"))
	default:
		if !given("checkpoint-time") {
			t.Checkpoint = 60
		}
		if !given("restart") {
			t.Restart = 600
		}
	}
	return nil
}

// knobs are the figures of machines that --turn takes.
func knobs() []string { return advise.KnobWords()[:advise.NumKnobs] }

// mostTurned bounds a factor: beyond it a machine is no machine.
const mostTurned = 1000

// parseTurn reads figure=factor pairs.
func parseTurn(text string) (map[advise.Knob]float64, error) {
	m := map[advise.Knob]float64{}
	for _, pair := range strings.Split(text, ",") {
		name, factor, ok := strings.Cut(strings.TrimSpace(pair), "=")
		k, known := advise.ParseKnob(name)
		if !ok || !known || k >= advise.NumKnobs {
			return nil, fmt.Errorf("%q is no figure and factor: write for example network=0.5, with one of %s", pair, strings.Join(knobs(), ", "))
		}
		by, err := unit.ParseNumber(factor, "a factor")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if !(by >= 1.0/mostTurned && by <= mostTurned) {
			return nil, fmt.Errorf("%s=%s: give a factor from %g to %d", name, factor, 1.0/mostTurned, mostTurned)
		}
		if m[k] > 0 {
			return nil, fmt.Errorf("%s is turned twice: keep one", name)
		}
		m[k] = by
	}
	return m, nil
}
