package api

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/serve"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// SimulateRequest asks how a deployment fares under a load.
type SimulateRequest struct {
	// Service is the deployment: model, one cluster, formats, speculation, engine,
	// and a plan whose keys that are not given are 1. Its lengths, concurrency and
	// objective are not used.
	Service  *InferRequest
	Load     *workload.Workload
	Limits   SimulateLimits
	Seed     uint64 // of speculative acceptance
	SLO      serve.SLO
	At       serve.Statistic // that the SLO is held against
	Progress func(done, all int)
}

// SimulateLimits are an engine's own settings; 0 is its default.
type SimulateLimits struct {
	MaxSeqs, BlockSize, Blocks int // of one replica
	NoPrefixCache              bool
	NoAhead                    bool // plan a batch only when the step before it is over
	Priority                   bool
	LeastLoaded                bool
}

// SimulateAnswer is everything there is to say.
type SimulateAnswer struct {
	Request  *SimulateRequest
	Variant  *deploy.Variant
	Layout   deploy.Layout
	Profile  *infer.Profile
	Service  *serve.Service
	Result   *serve.Result
	Capacity *serve.Capacity // nil where the run was cut
	KVTokens int64           // that the caches of the service hold; of two roles those that generate
	Missed   string          // how the SLO was missed, "" where it was kept
	Warnings []string
	Elapsed  time.Duration
}

// Share is the offered load over the capacity, 0 in a closed loop or where the
// capacity is not known.
func (a *SimulateAnswer) Share() float64 {
	span := a.Request.Load.Span().Seconds()
	if a.Capacity == nil || a.Capacity.Requests <= 0 || a.Request.Load.Concurrency > 0 || span <= 0 {
		return 0
	}
	return a.Offered() / a.Capacity.Requests
}

// Offered is the requests per second of an open load.
func (a *SimulateAnswer) Offered() float64 {
	l := a.Request.Load
	if l.Rate > 0 {
		return l.Rate
	}
	return float64(len(l.Requests)) / l.Span().Seconds()
}

// nearlyFull is the share of the capacity from which tails are not stated: the
// queue then depends on how long the load lasts more than on the load.
const nearlyFull = 0.95

// TailsHeld tells why tails of waiting times are not stated; "" where they are.
func (a *SimulateAnswer) TailsHeld() string {
	if a.Result.Overload != "" {
		return a.Result.Overload
	}
	if s := a.Share(); s >= nearlyFull {
		return fmt.Sprintf("the load is %.0f %% of what the service takes: tails depend on how long it lasts", 100*s)
	}
	return ""
}

// Simulate runs the load through the deployment. Errors are bad input or, for what
// does not fit, a *infer.MemoryError. A cancelled run answers with what was simulated.
func Simulate(ctx context.Context, r *SimulateRequest) (*SimulateAnswer, error) {
	start := time.Now()
	if r.Load == nil || len(r.Load.Requests) == 0 {
		return nil, fmt.Errorf("a simulation needs requests: give a trace, a rate or a concurrency")
	}
	a := &SimulateAnswer{Request: r}
	if err := a.build(); err != nil {
		return nil, err
	}
	var err error
	if a.Result, err = serve.Run(ctx, a.Service, r.Load, serve.Options{Seed: r.Seed, SLO: r.SLO, Progress: r.Progress}); err != nil {
		return nil, err
	}
	if !a.Result.Partial {
		if a.Capacity, err = serve.Saturate(ctx, a.Service, r.Load, r.Seed); err != nil {
			return nil, err
		}
	}
	a.Missed = a.Result.Missed(r.SLO, r.At)
	if held := a.TailsHeld(); a.Missed == "" && held != "" && r.SLO.TTFT > 0 && r.At != serve.Mean {
		a.Missed = held
	}
	if a.Result.Dropped > 0 {
		a.Warnings = append(a.Warnings, fmt.Sprintf("%d requests do not fit and were dropped", a.Result.Dropped))
	}
	a.Elapsed = time.Since(start)
	return a, nil
}

// build makes the service of the plan.
func (a *SimulateAnswer) build() error {
	s := *a.Request.Service
	s.ISL, s.OSL = meanLengths(a.Request.Load)
	s.Concurrency = []int{1}
	variants, err := s.variants()
	if err != nil {
		return err
	}
	if len(variants) != 1 {
		return fmt.Errorf("a simulation is of one deployment: give one cluster, format and speculation each, not %d combinations", len(variants))
	}
	a.Variant = variants[0]
	q := &deploy.Question{Model: s.Model, ISL: s.ISL, OSL: s.OSL, Concurrency: s.Concurrency, Engine: s.Engine, Chunk: s.Chunk, MemoryLimit: s.MemoryLimit}
	a.Service = &serve.Service{}
	if a.Request.Limits.LeastLoaded {
		a.Service.Routing = serve.LeastLoaded
	}
	if split := s.Plan.Disaggregated(); split != nil {
		a.Layout.Split = split
		err = a.roles(q, split)
	} else {
		a.Layout.Serving = s.Plan.Whole.Serving
		a.Service.Instances = max(a.Layout.Replicas, 1)
		err = a.engine(q, a.Layout.Serving, &a.Service.Engine)
	}
	if err != nil {
		return err
	}
	if need, have := int64(a.Layout.GPUs()), a.Variant.Cluster.GPUs; need > have {
		return fmt.Errorf("plan %s needs %d GPUs and the cluster has %d: lower a degree or take a larger cluster", a.Layout.String(), need, have)
	}
	return nil
}

// roles makes a disaggregated service.
func (a *SimulateAnswer) roles(q *deploy.Question, split *plan.Disaggregated) error {
	a.Service.Instances, a.Service.DecodeInstances = split.PrefillWorkers, split.DecodeWorkers
	if err := a.engine(q, split.Prefill, &a.Service.Engine); err != nil {
		return err
	}
	a.Service.Engine.Speculation = nil // prompts draft nothing
	a.Service.Decode = &serve.Engine{}
	if err := a.engine(q, split.Decode, a.Service.Decode); err != nil {
		return err
	}
	link, err := infer.NewKVLink(a.Variant.Cluster, int64(split.Prefill.GPUs()), int64(split.Decode.GPUs()))
	if err != nil {
		return err
	}
	a.Service.Transfer = serve.Over(link, q.Model.KVBytesPerToken(a.Variant.KV))
	if link.Assumed {
		a.Warnings = append(a.Warnings, "KV caches cross the network at "+link.Source)
	}
	return nil
}

// engine fills into with one kind of instance.
func (a *SimulateAnswer) engine(q *deploy.Question, p plan.Serving, into *serve.Engine) error {
	in, err := q.Build(a.Variant, p)
	if err != nil {
		return err
	}
	e, err := serve.Of(in.Engine)
	if err != nil {
		return err
	}
	e.Stepper = in.Stepper
	l := &a.Request.Limits
	if spec := a.Variant.Speculation; spec != nil && spec.Drafts > 0 {
		e.Speculation = spec
		e.MaxSeqs = max(1, min(e.MaxSeqs, e.MaxTokens/(1+spec.Drafts)))
	}
	if l.BlockSize > 0 {
		e.Blocks = e.Blocks * e.BlockSize / l.BlockSize
		e.BlockSize = l.BlockSize
	}
	for _, x := range []struct {
		given int
		into  *int
	}{{l.MaxSeqs, &e.MaxSeqs}, {l.Blocks, &e.Blocks}} {
		if x.given > 0 {
			*x.into = x.given
		}
	}
	e.PrefixCache, e.Ahead, e.Priority = !l.NoPrefixCache, !l.NoAhead, l.Priority
	*into = e
	a.Profile = in.Engine.Setup().Profile
	n := max(p.Replicas, 1)
	if a.Layout.Split != nil {
		n = a.Layout.Split.DecodeWorkers
	}
	a.KVTokens = int64(e.Blocks) * int64(e.BlockSize) * int64(e.Ranks) * int64(n)
	for _, w := range in.Engine.Warnings() {
		if !slices.Contains(a.Warnings, w) { // both roles may say it
			a.Warnings = append(a.Warnings, w)
		}
	}
	return nil
}

// meanLengths are the mean prompt and answer of a load, at least 1 and 2 tokens.
func meanLengths(l *workload.Workload) (isl, osl int64) {
	for i := range l.Requests {
		isl, osl = isl+int64(l.Requests[i].Input), osl+int64(l.Requests[i].Output)
	}
	n := int64(len(l.Requests))
	return max((isl+n/2)/n, 1), max((osl+n/2)/n, 2)
}
