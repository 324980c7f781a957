package api

import (
	"context"
	"fmt"
	"time"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/note"
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
	Ramp     *time.Duration // over which the users of a closed loop come; nil = serve.Ramp's
	Limits   SimulateLimits
	Seed     uint64 // of speculative acceptance
	SLO      serve.SLO
	At       serve.Statistic // that the SLO is held against
	Progress func(done, all int)
}

// SimulateLimits are an engine's own settings; 0 is its default.
type SimulateLimits struct {
	MaxSeqs, BlockSize, Blocks int // of one replica
	Slots                      int // sequences of an instance, spread over its replicas, in place of MaxSeqs
	NoPrefixCache              bool
	NoAhead                    bool // plan a batch only when the step before it is over
	Priority                   bool
	LeastLoaded                bool
}

// SimulateAnswer is everything there is to say.
type SimulateAnswer struct {
	Request *SimulateRequest
	Deployment
	Result   *serve.Result
	Capacity *infer.Capacity // nil where the run was cut
	Missed   string          // how the SLO was missed, "" where it was kept
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
	isl, osl, err := meanLengths(r.Load, r.Service.Model)
	if err != nil {
		return nil, err
	}
	d, err := Deploy(r.Service, &r.Limits, isl, osl, r.Load.Concurrency)
	if err != nil {
		return nil, err
	}
	a.Deployment = *d
	if r.Load.Concurrency > 0 {
		if err := r.ramp(ctx, a.Service); err != nil {
			return nil, err
		}
	}
	if a.Result, err = serve.Run(ctx, a.Service, r.Load, serve.Options{Seed: r.Seed, SLO: r.SLO, Progress: r.Progress}); err != nil {
		return nil, err
	}
	if !a.Result.Partial {
		if a.Capacity, err = a.full(ctx, r); err != nil {
			return nil, err
		}
		if a.Capacity != nil {
			*a.Capacity = serve.Sustained(*a.Capacity, a.Result)
		}
	}
	a.Missed = a.Result.Missed(r.SLO, r.At)
	if held := a.TailsHeld(); a.Missed == "" && held != "" && r.SLO.TTFT > 0 && r.At != serve.Mean {
		a.Missed = held
	}
	if a.Result.Dropped > 0 {
		a.Warnings = append(a.Warnings, note.New(note.RequestsDropped, "dropped arrived reason", "requests that can never run were dropped, %d of %d: %s", a.Result.Dropped, a.Result.Arrived, a.FirstDropped()))
	}
	a.Elapsed = time.Since(start)
	return a, nil
}

// FirstDropped names the first request that can never run and says why.
func (a *SimulateAnswer) FirstDropped() string {
	for i := range a.Result.Records {
		r := &a.Result.Records[i]
		switch {
		case r.Outcome != workload.Dropped:
		case r.Line > 0:
			return fmt.Sprintf("%s, line %d: %s", a.Request.Load.Name, r.Line, r.Reason)
		default:
			return r.Reason
		}
	}
	return ""
}

// ramp spreads the users of a closed loop as asked, or as they are when nobody says.
func (r *SimulateRequest) ramp(ctx context.Context, s *serve.Service) (err error) {
	load := *r.Load
	if r.Ramp != nil {
		load.Ramp = *r.Ramp
	} else if load.Ramp, err = serve.Ramp(ctx, s, r.Load, r.Seed); err != nil {
		return err
	}
	r.Load = &load
	return nil
}
