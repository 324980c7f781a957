package api

import (
	"context"
	"fmt"

	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/mem"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/serve"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// Deployment is one service as its event simulation sees it.
type Deployment struct {
	Variant  *deploy.Variant
	Layout   deploy.Layout
	Profile  *infer.Profile
	Service  *serve.Service
	KVTokens int64 // that the caches of the service hold; of two roles those that generate
	Warnings note.List
	// Calibration corrects the steps by measured points; nil without any.
	Calibration *infer.Calibration

	question *deploy.Question
	capacity func(*deploy.Question) (infer.Capacity, error) // of the instance that was made last
}

// full is the service's capacity for the load: by infer's closed form where that holds,
// else that of a simulated run of more users than fit; nil where the context ended first.
func (d *Deployment) full(ctx context.Context, r *SimulateRequest) (*infer.Capacity, error) {
	if !d.closed(r.Load, &r.Limits) {
		return serve.Saturate(ctx, d.Service, r.Load, r.Seed)
	}
	q := *d.question
	q.Varied = r.Load.Concurrency == 0 || !r.Load.Alike() // requests that arrive keep no step with others
	c, err := d.capacity(&q)
	c = c.Times(d.Service.Instances)
	return &c, err
}

// closed tells whether the closed form of infer holds: of one role, whose engine keeps its
// own blocks, and of generated requests, whose lengths lie about their mean and which have no common
// prefixes; the lengths of a trace may lie anywhere.
func (d *Deployment) closed(load *workload.Workload, l *SimulateLimits) bool {
	return d.Layout.Split == nil && l.Blocks == 0 && load.BlockTokens == 0 && load.Requests[0].Line == 0
}

// Cost is the USD per million tokens where the service generates output tokens/s; ok is
// false without a price.
func (d *Deployment) Cost(output float64) (usd float64, ok bool) {
	c := d.Variant.Cluster
	return deploy.CostPerMillion(c.PricePerGPUHour, c.Free, d.Layout.GPUs(), output)
}

// Deploy makes the service of the request's plan, for requests of isl input and osl
// output tokens where memory depends on them, and for so many in flight where measured
// points are given, which belong to them. Errors are bad input or, for what does
// not fit, a *infer.MemoryError.
func Deploy(r *InferRequest, limits *SimulateLimits, isl, osl int64, inFlight int) (*Deployment, error) {
	s := *r
	s.ISL, s.OSL, s.Concurrency = isl, osl, []int{max(1, inFlight)}
	variants, err := s.variants()
	if err != nil {
		return nil, err
	}
	if len(variants) != 1 {
		return nil, fmt.Errorf("a simulation is of one deployment: give one cluster, format, speculation, round trip and overlap each, not %d combinations", len(variants))
	}
	q, err := inferQuestion(&s)
	if err != nil {
		return nil, err
	}
	a := &Deployment{Variant: variants[0]}
	if len(s.Measured) > 0 {
		if s.Plan.Disaggregated() != nil {
			return nil, fmt.Errorf("--calibrate: a measured time per token belongs to one engine: give a plan of one role")
		}
		x := s.Plan.Whole.Serving
		x.Replicas = 1
		if a.Calibration, err = q.Calibrate(a.Variant, x, max(1, s.Plan.Whole.Serving.Replicas)); err != nil {
			return nil, err
		}
	}
	a.Service = &serve.Service{}
	if limits.LeastLoaded {
		a.Service.Routing = serve.LeastLoaded
	}
	if split := s.Plan.Disaggregated(); split != nil {
		a.Layout.Split = split
		err = a.roles(q, limits, split)
	} else {
		a.Layout.Serving = s.Plan.Whole.Serving
		a.Service.Instances = max(a.Layout.Replicas, 1)
		err = a.engine(q, limits, a.Layout.Serving, &a.Service.Engine)
	}
	if err != nil {
		return nil, err
	}
	if need, have := int64(a.Layout.GPUs()), a.Variant.Cluster.GPUs; need > have {
		return nil, fmt.Errorf("plan %s needs %d GPUs and the cluster has %d: lower a degree or take a larger cluster", a.Layout.String(), need, have)
	}
	return a, nil
}

// roles makes a disaggregated service.
func (a *Deployment) roles(q *deploy.Question, limits *SimulateLimits, split *plan.Disaggregated) error {
	a.Service.Instances, a.Service.DecodeInstances = split.PrefillWorkers, split.DecodeWorkers
	if err := a.engine(q, limits, split.Prefill, &a.Service.Engine); err != nil {
		return err
	}
	a.Service.Engine.Speculation = nil // prompts draft nothing
	a.Service.Decode = &serve.Engine{}
	if err := a.engine(q, limits, split.Decode, a.Service.Decode); err != nil {
		return err
	}
	decode, err := q.Build(a.Variant, split.Decode)
	if err != nil {
		return err
	}
	link, err := decode.Engine.KVLink(&split.Prefill)
	if err != nil {
		return err
	}
	a.Service.Transfer = serve.Over(link, q.Model.KVBytesPerToken(a.Variant.KV, 0))
	a.Service.Engine.Stepper, a.Service.Decode.Stepper = &infer.Role{Inner: a.Service.Engine.Stepper}, &infer.Role{Inner: a.Service.Decode.Stepper}
	a.Warnings = append(a.Warnings, deploy.RolesKept)
	if link.Inside {
		a.Warnings = append(a.Warnings, note.New(note.KVLinkInside, "source", "KV caches stay in the node and travel at %s", link.Source).With("bytes_per_second", float64(link.Rate)))
	} else if link.Assumed {
		a.Warnings = append(a.Warnings, note.New(note.KVLinkAssumed, "source", "KV caches cross the network at %s", link.Source).With("bytes_per_second", float64(link.Rate)))
	}
	return nil
}

// engine fills into with one kind of instance.
func (a *Deployment) engine(q *deploy.Question, l *SimulateLimits, p plan.Serving, into *serve.Engine) error {
	limited := *q
	if limited.Slots = l.Slots; l.MaxSeqs > 0 {
		limited.Slots = l.MaxSeqs * max(p.DP, 1)
	}
	in, err := limited.Build(a.Variant, p)
	if err != nil {
		return err
	}
	e, err := serve.Of(in.Engine)
	if err != nil {
		return err
	}
	in.Correct(a.Calibration)
	e.Stepper = in.Stepper
	if spec := a.Variant.Speculation; spec != nil && spec.Drafts > 0 {
		e.Speculation = spec
		e.MaxSeqs = max(1, min(e.MaxSeqs, e.MaxTokens/(1+spec.Drafts)))
		if n := int(in.Engine.DraftingSequences(spec)); n > 0 {
			e.MaxSeqs = min(e.MaxSeqs, n) // unless the operator says otherwise, below
		}
	}
	if l.BlockSize > 0 {
		e.Blocks = e.Blocks * e.BlockSize / l.BlockSize
		e.BlockSize = l.BlockSize
	}
	if err := roomFor(l.Blocks, e.BlockSize, in.Engine); err != nil {
		return err
	}
	for _, x := range []struct {
		given int
		into  *int
	}{{l.MaxSeqs, &e.MaxSeqs}, {(l.Slots + e.Ranks - 1) / e.Ranks, &e.MaxSeqs}, {l.Blocks, &e.Blocks}} {
		if x.given > 0 {
			*x.into = x.given
		}
	}
	e.PrefixCache, e.Ahead, e.Priority = !l.NoPrefixCache, !l.NoAhead, l.Priority
	*into = e
	a.capacity = func(q *deploy.Question) (infer.Capacity, error) {
		return in.Saturate(q, int64(e.MaxSeqs)*int64(e.Ranks))
	}
	a.question = q
	a.Profile = in.Engine.Setup().Profile
	n := max(p.Replicas, 1)
	if a.Layout.Split != nil {
		n = a.Layout.Split.DecodeWorkers
	}
	a.KVTokens = int64(e.Blocks) * int64(e.BlockSize) * int64(e.Ranks) * int64(n)
	warnings := in.Engine.Warnings()
	if l.Priority {
		order := "smaller"
		if e.HigherFirst {
			order = "larger"
		}
		warnings = warnings.And(note.New(note.PriorityAssumed, "order engine", "--priority: %s numbers go first in %s, assumed from its documentation and not checked against a run", order, in.Engine.Setup().Profile.Engine))
	}
	if a.Variant.RTT != nil && in.Engine.Step(&infer.Batch{Decode: 1, DecodeContext: 1}).Wire == 0 {
		warnings = warnings.And(note.New(note.PlanRTTIdle, "plan", "--net-rtt changes nothing of %s, which stays inside a node", p.String()))
	}
	for _, w := range warnings {
		if !a.Warnings.Has(w.Text) { // both roles may say it
			a.Warnings = append(a.Warnings, w)
		}
	}
	return nil
}

// roomFor refuses more KV blocks than a GPU has memory for beside everything else.
func roomFor(blocks, size int, e *infer.Engine) error {
	m := e.Memory()
	room := m.Device - (m.Parts.Total() - m.Parts[mem.Cache])
	if need := float64(blocks) * float64(size) * m.PerToken; need > float64(room) {
		return fmt.Errorf("--num-gpu-blocks %d: a GPU has room for %.0f blocks of %d tokens beside the weights: lower it", blocks, float64(room)/m.PerToken/float64(size), size)
	}
	return nil
}

// meanLengths are the mean prompt and answer of the requests of a load that the
// model's context holds, at least 1 and 2 tokens. Where it holds none the error names
// the first.
func meanLengths(l *workload.Workload, m *model.Model) (isl, osl int64, err error) {
	n := int64(0)
	for i := range l.Requests {
		in, out := int64(l.Requests[i].Input), int64(l.Requests[i].Output)
		if m.MaxContext == 0 || in+out <= m.MaxContext {
			n, isl, osl = n+1, isl+in, osl+out
		}
	}
	if n > 0 {
		return max((isl+n/2)/n, 1), max((osl+n/2)/n, 2), nil
	}
	r, mend := &l.Requests[0], "shorten isl or osl"
	if r.Line > 0 {
		mend = fmt.Sprintf("no request of %s fits, the first one stands in line %d: take a model with a longer context", l.Name, r.Line)
	}
	return 0, 0, fmt.Errorf("a request of %d + %d tokens exceeds the %d of %s: %s", r.Input, r.Output, m.MaxContext, m.Name, mend)
}
