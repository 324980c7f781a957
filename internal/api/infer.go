package api

import (
	"context"
	"fmt"
	"time"

	"github.com/ridgeline/ridgeline/internal/balance"
	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// InferRequest asks how to serve a model. Every list multiplies the answer: its
// values are compared. Empty lists stand for their default alone.
type InferRequest struct {
	Model       *model.Model
	Clusters    []*hw.Cluster
	Plan        *plan.ServingText // keys that the user gave; the others are searched
	ISL, OSL    int64             // tokens per request in and out, means
	Cached      int64             // of ISL: found in the prefix cache and not read
	Longest     int64             // tokens of the longest request with its answer; 0 = all are alike
	Spread      float64           // of the prompts' lengths: their coefficient of variation
	Concurrency []int             // requests in flight at the service, ascending; empty = powers of two, see defaultLoads
	Weights     []unit.Format     // default: the checkpoint's
	Experts     []unit.Format     // routed experts; default: Weights, or the checkpoint's
	KV          []unit.Format     // default: BF16
	Speculation []*infer.Speculation
	DraftModels map[string]*model.Model // by the name that Speculation gives
	RTT         []unit.Seconds          // between nodes; default: the fabric's own
	Overlap     []bool                  // two micro-batches; default: one batch
	Skew        float64                 // power-law exponent of the experts' popularity, 0 = even
	Loads       *balance.Given          // of each expert of a layer, in place of Skew
	SLO         deploy.SLO
	Engine      string // "" = the default profile
	Measured    []infer.Measured
	Chunk       int64   // most tokens of an engine step, 0 = the engine's, and others in a search
	Slots       int64   // most sequences generating on one instance, 0 = as the objective allows
	Eager       bool    // no CUDA graphs
	MemoryLimit float64 // usable share of device memory, 0 = the default
	Progress    func(done, all int)
}

// InferAnswer is everything there is to say.
type InferAnswer struct {
	Request  *InferRequest
	Outcomes []*deploy.Outcome // one per variant, in the order of the lists
	Best     *deploy.Outcome   // whose Best is the answer
	Front    []FrontPoint      // over all variants
	// Saturated is the listed point with most output per GPU where no SLO is asked for and
	// that lies past the queue, unlike Best; nil elsewhere.
	Saturated *FrontPoint
	// About the best point: the batch at which each part turns compute-bound, what
	// speculation gives, and what slower networks cost.
	Flips    []Flip
	FlipsTo  int64 // no larger batch was looked at
	Drafting []Drafting
	Latency  []LatencyPoint
	// Streaming is the tokens/s of one user where one device streams every parameter
	// that a token uses at the datasheet's rate, whatever its memory holds.
	Streaming float64
	// Touched of Experts routed ones of a layer are read by the best point's decode step,
	// as expected; 0 of models without any and of steps in two micro-batches.
	Touched  float64
	Experts  int64
	Ceilings []infer.Ceiling // of the expert exchange; nil where experts are not on ranks of their own
	// Strategies is the best point with one thing changed at a time.
	Strategies []Strategy
	Warnings   note.List
	Elapsed    time.Duration
}

// FrontPoint is a point of the Pareto front with the variant it belongs to.
type FrontPoint struct {
	*deploy.Point
	Variant *deploy.Variant
}

// Infer searches the deployments that the request leaves open, for each variant
// that it lists. Errors are bad input. Nothing that fits, or meets the SLO, is no
// error: see Met.
func Infer(ctx context.Context, r *InferRequest) (*InferAnswer, error) {
	start := time.Now()
	q, err := inferQuestion(r)
	if err != nil {
		return nil, err
	}
	variants, err := r.variants()
	if err != nil {
		return nil, err
	}
	if len(r.Concurrency) == 0 {
		if r, err = r.withLoads(q, variants); err != nil {
			return nil, err
		}
	}
	a := &InferAnswer{Request: r}
	for i, v := range variants {
		o, err := deploy.Run(ctx, q, v, func(done, all int) {
			if r.Progress != nil {
				r.Progress(i*all+done, len(variants)*all)
			}
		})
		if err != nil {
			return nil, err
		}
		a.Outcomes = append(a.Outcomes, o)
	}
	a.Best = deploy.Cheapest(a.Outcomes, r.SLO)
	a.Front = front(a.Outcomes)
	a.Saturated = a.saturated()
	if err := a.explain(q); err != nil {
		return nil, err
	}
	a.Elapsed = time.Since(start)
	return a, nil
}

// saturated finds the other end of the loads: most output, whoever waits.
func (a *InferAnswer) saturated() (most *FrontPoint) {
	if a.Request.SLO.Any() || a.Best.Best.Queued || !a.Best.Best.Fits {
		return nil
	}
	for _, o := range a.Outcomes {
		for _, p := range o.Points {
			if p.Queued && p.Fits && p.PerGPU() > a.Best.Best.PerGPU() && (most == nil || p.PerGPU() > most.PerGPU()) {
				most = &FrontPoint{p, o.Variant}
			}
		}
	}
	return most
}

// Met tells whether the best deployment fits and keeps the SLO.
func (a *InferAnswer) Met() bool { return a.Best.Meets(a.Request.SLO) }

// Searched tells whether layouts were compared: more points were priced than the
// answer lists.
func (a *InferAnswer) Searched() bool {
	for _, o := range a.Outcomes {
		if o.Count.Priced > len(o.Points) {
			return true
		}
	}
	return false
}

// maxRequest of a prompt or an answer: beyond it a length is a mistake.
const maxRequest = 1 << 24

// maxSkew is an exponent at which one expert already draws most tokens.
const maxSkew = 4

// inferQuestion checks the request's own figures.
func inferQuestion(r *InferRequest) (*deploy.Question, error) {
	switch {
	case r.ISL < 1 || r.ISL > maxRequest:
		return nil, fmt.Errorf("--isl %d: give 1 to %d tokens", r.ISL, maxRequest)
	case r.Cached < 0 || r.Cached >= r.ISL:
		return nil, fmt.Errorf("--cached %d: give fewer than the %d of --isl, as a prompt's last token is always read", r.Cached, r.ISL)
	case r.OSL < 2 || r.OSL > maxRequest:
		return nil, fmt.Errorf("--osl %d: give 2 to %d tokens, as the time per output token starts at the second", r.OSL, maxRequest)
	case r.Model.MaxContext > 0 && r.Longest > r.Model.MaxContext:
		return nil, fmt.Errorf("--isl and --osl: the longest request has %d tokens with its answer and %s a context of %d: shorten them", r.Longest, r.Model.Name, r.Model.MaxContext)
	case r.Model.MaxContext > 0 && r.ISL+r.OSL > r.Model.MaxContext:
		return nil, note.Faultf(note.ContextPassed, "isl osl context model", "--isl %d and --osl %d pass the %d tokens of context of %s: shorten the requests", r.ISL, r.OSL, r.Model.MaxContext, r.Model.Name)
	case len(r.Clusters) == 0:
		return nil, fmt.Errorf("a question about serving needs a cluster")
	case r.Chunk < 0:
		return nil, fmt.Errorf("--batch-tokens %d: give at least 1 token per step", r.Chunk)
	case r.Slots < 0 || r.Slots > deploy.MaxConcurrency:
		return nil, fmt.Errorf("--max-sequences %d: give 1 to %d", r.Slots, deploy.MaxConcurrency)
	case !(r.Skew >= 0) || r.Skew > maxSkew:
		return nil, fmt.Errorf("--skew %g: give an exponent from 0 (even) to %d", r.Skew, maxSkew)
	case r.Skew > 0 && !r.Model.MoE():
		return nil, fmt.Errorf("--skew: %s has no routed experts: leave it out", r.Model.Name)
	case r.Loads != nil && r.Skew > 0:
		return nil, fmt.Errorf("--expert-loads and --skew both say how experts are used: leave one out")
	case r.Loads != nil && int64(len(r.Loads.Each)) != r.Model.MaxExperts():
		return nil, fmt.Errorf("--expert-loads: %d loads for the %d routed experts of a layer of %s: give one each", len(r.Loads.Each), r.Model.MaxExperts(), r.Model.Name)
	case r.Loads != nil && r.Loads.Most() > 1/float64(r.Model.FirstMoE().TopK)+1e-9:
		return nil, fmt.Errorf("--expert-loads: one expert has %.3g of all loads and each token takes %d different ones of %s: no load can be above 1/%d of their sum", r.Loads.Most(), r.Model.FirstMoE().TopK, r.Model.Name, r.Model.FirstMoE().TopK)
	case r.MemoryLimit < 0 || r.MemoryLimit > 1:
		return nil, fmt.Errorf("--memory-limit %g: give a share of device memory from 0 to 1", r.MemoryLimit)
	case len(r.Measured) > 0 && len(r.Clusters)*max(1, len(r.Speculation))*max(1, len(r.Weights))*max(1, len(r.KV)) > 1:
		return nil, fmt.Errorf("--calibrate: a measured point belongs to one cluster, format and speculation: give one of each")
	}
	return &deploy.Question{Model: r.Model, ISL: r.ISL, OSL: r.OSL, Cached: r.Cached, Varied: r.Longest > 0, Spread: r.Spread, Concurrency: r.Concurrency, SLO: r.SLO, Plan: r.Plan,
		Engine: r.Engine, Chunk: r.Chunk, Slots: int(r.Slots), MemoryLimit: r.MemoryLimit, Eager: r.Eager, Measured: r.Measured}, nil
}

// front is the Pareto front over all variants.
func front(outcomes []*deploy.Outcome) (list []FrontPoint) {
	of := map[*deploy.Point]*deploy.Variant{}
	var all []*deploy.Point
	for _, o := range outcomes {
		for _, p := range o.Front {
			of[p] = o.Variant
			all = append(all, p)
		}
	}
	for _, p := range deploy.Front(all) {
		list = append(list, FrontPoint{p, of[p]})
	}
	return list
}
