package serve

import (
	"context"
	"time"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// Bounds of the run that finds a capacity: users over the requests that fit the
// cache, requests per user, and the most users.
const (
	fullness = 1.25
	rounds   = 8
	mostFull = 4096
)

// Saturate finds the capacity of a service for requests like the load's: a closed
// loop with more users than fit, who come as Ramp says: together, those of equal lengths
// would be read together for ever, which requests that arrive do not share. Requests are those of the load, spread over it where there
// are more, gone through again with other content where there are too few.
func Saturate(ctx context.Context, service *Service, load *workload.Workload, seed uint64) (*infer.Capacity, error) {
	if err := some(load); err != nil {
		return nil, err
	}
	own := *service
	if err := own.check(load.BlockTokens); err != nil {
		return nil, err
	}
	users := own.places(load)
	full := workload.Workload{Concurrency: users, BlockTokens: load.BlockTokens, Requests: make([]workload.Request, rounds*users)}
	for i := range full.Requests {
		full.Requests[i] = load.Requests[pick(load, i, len(full.Requests))]
		if again := uint64(i / len(load.Requests)); again > 0 {
			full.Requests[i].Blocks = renamed(full.Requests[i].Blocks, again)
		}
	}
	var err error
	if full.Ramp, err = Ramp(ctx, &own, &full, seed); err != nil {
		return nil, err
	}
	r, err := Run(ctx, &own, &full, Options{Seed: seed})
	if err != nil || r.Partial || r.Done == 0 {
		return nil, err
	}
	m := r.Mean()
	inFlight, generating := crowd(r.Records, m.From, m.To)
	// Tokens are counted where they come. Answers that end within the window are more or
	// fewer than those whose tokens they are, by what its edges cut: so many tokens are
	// so many answers.
	each := float64(r.Output) / float64(r.Done)
	return &infer.Capacity{Clients: inFlight, Concurrency: generating, Requests: m.OutputRate / each, Output: m.OutputRate}, nil
}

// Sustained is the capacity c, or what a run of such requests gave where that is more. Users of equal lengths who come in groups keep them, and
// groups may pass what those apart of each other get; a trace has hours of shorter answers or of more common prefixes.
func Sustained(c infer.Capacity, r *Result) infer.Capacity {
	for _, s := range []*Summary{r.Mean(), &r.Whole} {
		if rate := s.OutputRate; rate > c.Output {
			c.Requests, c.Output = c.Requests*rate/c.Output, rate
		}
	}
	c.Requests = max(c.Requests, r.Whole.RequestRate)
	if r.Overload != "" { // else the edges of a short stretch cut answers
		c.Requests = max(c.Requests, r.Mean().RequestRate)
	}
	return c
}

// pick is the load's request that comes as the i-th of n: of more than n every so
// manyth, so that those of all hours count; in order where content repeats, whose reuse
// depends on what came before.
func pick(load *workload.Workload, i, n int) int {
	all := len(load.Requests)
	if all > n && load.BlockTokens == 0 {
		return i * all / n
	}
	return i % all
}

// crowd is how many requests were past their queue between from and to, and how many
// of them had their first token and made further ones: means over that time. A record
// counts in the second for a part of its time in the first.
func crowd(records []workload.Record, from, to time.Duration) (inFlight, generating float64) {
	length := (to - from).Seconds()
	if length <= 0 {
		return 0, 0
	}
	within := func(start, end time.Duration) float64 {
		return max(min(end, to)-max(start, from), 0).Seconds() / length
	}
	for i := range records {
		if r := &records[i]; r.Outcome == workload.Done {
			inFlight += within(r.Started, r.Last)
			generating += within(r.First, r.Last)
		}
	}
	return inFlight, generating
}

// places is a number of users that leaves some waiting.
func (s *Service) places(load *workload.Workload) int {
	tokens := 0
	for i := range load.Requests {
		tokens += load.Requests[i].Input + load.Requests[i].Output
	}
	each := max(tokens/len(load.Requests), 1)
	e, n := s.Generating()
	held := float64(e.Blocks) * float64(e.BlockSize) * float64(e.Ranks*n) / float64(each)
	return max(1, min(int(min(fullness*held, mostFull))+1, int(fullness*float64(s.Slots()))+1))
}

// renamed gives block ids that no other pass over the load uses.
func renamed(ids []uint64, pass uint64) []uint64 {
	if ids == nil {
		return nil
	}
	out := make([]uint64, len(ids))
	for i, id := range ids {
		out[i] = id ^ pass<<40
	}
	return out
}
