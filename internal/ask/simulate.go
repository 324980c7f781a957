package ask

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/serve"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// Simulate is a question to the simulator: the deployment and the load as they
// were typed.
type Simulate struct {
	Flags *pflag.FlagSet
	Most  int // requests that it may send, 0 = workload.MaxRequests

	model, cluster, plan, engine string
	weights, experts, kv         unit.Format
	spec                         *infer.Speculation
	rtt                          unit.Seconds
	limit                        float64
	trace                        string
	rate                         float64
	concurrency, requests, seed  int64
	duration                     unit.Seconds
	isl, osl                     workload.Length
	arrival                      workload.Arrival
	slo                          deploy.SLO
	at                           serve.Statistic
	seqs, tokens, block, blocks  int64
	routing                      string
	noPrefix, noAhead, priority  bool
}

// NewSimulate is a question with nothing given.
func NewSimulate() *Simulate {
	f := &Simulate{Flags: pflag.NewFlagSet("simulate", pflag.ContinueOnError)}
	fs := f.Flags
	fs.StringVar(&f.model, "model", "", "`MODEL`: catalogue name, Hugging Face id, config.json, model folder or GGUF file")
	fs.StringVar(&f.cluster, "cluster", "", "`CLUSTER`: GPU and count such as h200x8, a catalogue name or a YAML file")
	fs.StringVar(&f.plan, "plan", "", "`KEYS` of the deployment, such as tp=8,replicas=2 or prefill:tp=8,workers=2;decode:tp=8")
	fs.StringVar(&f.trace, "trace", "", "replay the trace in `FILE`: Azure CSV, Mooncake or engine JSON lines, records; also .gz")
	fs.Var(Quantity(&f.rate, parseRate, "R", ""), "rate", "requests per second that arrive")
	Count(fs, &f.concurrency, "concurrency", "users of a closed loop; with --trace they send its requests one by one")
	fs.Var(Quantity(&f.arrival, workload.ParseProcess, "LAW", ""), "arrival", "of --rate: poisson, constant or gamma:CV (default poisson)")
	fs.Var(Quantity(&f.isl, workload.ParseLength, "N", ""), "isl", "input tokens per request: 1024, 820..1024 or 1024+-20%")
	fs.Var(Quantity(&f.osl, workload.ParseLength, "N", ""), "osl", "output tokens per request, likewise")
	Count(fs, &f.requests, "requests", "requests to send (default 1000, in a closed loop 10 per user and at least 200, the whole trace)")
	Duration(fs, &f.duration, "duration", "of the arrivals, in place of --requests")
	Count(fs, &f.seed, "seed", "of all that is drawn (default 0)")
	fs.Var(Quantity(&f.slo, deploy.ParseSLO, "SLO", ""), "slo", "objective such as ttft=2s,tpot=50ms; exit 4 where it is missed")
	fs.Var(Quantity(&f.at, serve.ParseStatistic, "STAT", ""), "slo-at", "what the objective holds for: mean, p50, p90, p95 or p99 (default mean)")
	f.engineFlags()
	return f
}

// Routings are the ways to spread requests.
var Routings = []string{"round-robin", "least-loaded"}

// engineFlags adds what an engine is told, as its own flags are called.
func (f *Simulate) engineFlags() {
	fs := f.Flags
	fs.StringVar(&f.engine, "engine", "", "`ENGINE` whose overheads are taken: "+strings.Join(Engines, ", "))
	fs.Var(Quantity(&f.weights, Format, "FORMAT", ""), "weights", "format of the weights (default: the checkpoint's)")
	fs.Var(Quantity(&f.experts, Format, "FORMAT", ""), "expert-weights", "format of the routed experts, where it differs from --weights")
	fs.Var(Quantity(&f.kv, Format, "FORMAT", ""), "kv", "format of the KV cache (default bf16)")
	fs.Var(Quantity(&f.spec, infer.ParseSpeculation, "SPEC", ""), "spec", "speculation: none, mtp:N[:ACCEPT], draft:MODEL:N:ACCEPT (default none)")
	Duration(fs, &f.rtt, "net-rtt", "round trip between nodes, in place of the fabric's own")
	fs.Var(Quantity(&f.limit, unit.ParseFraction, "share", "0.94"), "memory-limit", "usable share of device memory")
	Count(fs, &f.seqs, "max-num-seqs", "sequences in a step, per replica (default 1024)")
	Count(fs, &f.tokens, "max-num-batched-tokens", "tokens of a step, per replica, which cuts prompts into chunks (default: the engine's)")
	Count(fs, &f.block, "block-size", "tokens per KV block (default 16)")
	Count(fs, &f.blocks, "num-gpu-blocks", "KV blocks per replica (default: what memory holds)")
	fs.BoolVar(&f.noPrefix, "no-prefix-cache", false, "keep no KV blocks of prompts for later ones")
	fs.BoolVar(&f.noAhead, "no-async-scheduling", false, "plan a step only when the one before is over")
	fs.BoolVar(&f.priority, "priority", false, "order the queue by the records' priority before arrival")
	fs.StringVar(&f.routing, "routing", Routings[0], "spread requests over replicas: "+strings.Join(Routings, " or "))
}

// parseRate reads requests per second.
func parseRate(text string) (float64, error) {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no rate: give requests per second such as 2.5", text)
	}
	return n, workload.Arrival{Rate: n}.Check()
}

// Request resolves the question.
func (f *Simulate) Request(find Finder) (*api.SimulateRequest, error) {
	if err := Required(f.Flags, "model", "cluster", "plan"); err != nil {
		return nil, err
	}
	service, err := f.service(find)
	if err != nil {
		return nil, err
	}
	r := &api.SimulateRequest{Service: service, Seed: uint64(f.seed), At: f.at}
	for _, n := range []struct {
		flag  string
		value int64
		into  *int
	}{{"max-num-seqs", f.seqs, &r.Limits.MaxSeqs}, {"block-size", f.block, &r.Limits.BlockSize}, {"num-gpu-blocks", f.blocks, &r.Limits.Blocks}} {
		if f.Flags.Changed(n.flag) && (n.value < 1 || n.value > math.MaxInt32) {
			return nil, fmt.Errorf("--%s %d: give 1 to %d", n.flag, n.value, math.MaxInt32)
		}
		*n.into = int(n.value)
	}
	r.Limits.NoPrefixCache, r.Limits.NoAhead, r.Limits.Priority = f.noPrefix, f.noAhead, f.priority
	switch f.routing {
	case Routings[0]:
	case Routings[1]:
		r.Limits.LeastLoaded = true
	default:
		return nil, UnknownWord("routing", f.routing, Routings, "use "+strings.Join(Routings, " or "))
	}
	for _, x := range []struct {
		from unit.Seconds
		into *time.Duration
	}{{f.slo.TTFT, &r.SLO.TTFT}, {f.slo.TPOT, &r.SLO.TPOT}} {
		if *x.into, err = serve.Nanoseconds(x.from); err != nil {
			return nil, fmt.Errorf("--slo: %w", err)
		}
	}
	if r.Load, err = f.load(find); err != nil {
		return nil, err
	}
	return r, nil
}

// service is the deployment.
func (f *Simulate) service(find Finder) (*api.InferRequest, error) {
	s := &api.InferRequest{Chunk: f.tokens, MemoryLimit: f.limit, DraftModels: map[string]*model.Model{}}
	if f.Flags.Changed("max-num-batched-tokens") && f.tokens < 1 {
		return nil, fmt.Errorf("--max-num-batched-tokens %d: give at least 1", f.tokens)
	}
	c, err := find.Cluster(f.cluster)
	if err != nil {
		return nil, err
	}
	s.Clusters = []*hw.Cluster{c}
	if s.Model, err = find.Model(f.model); err != nil {
		return nil, err
	}
	if s.Plan, err = plan.ParseServing(f.plan); err != nil {
		return nil, err
	}
	if s.Engine, err = findEngine(f.engine); err != nil {
		return nil, err
	}
	for flag, x := range map[string]struct {
		value unit.Format
		into  *[]unit.Format
	}{"weights": {f.weights, &s.Weights}, "expert-weights": {f.experts, &s.Experts}, "kv": {f.kv, &s.KV}} {
		if f.Flags.Changed(flag) {
			*x.into = []unit.Format{x.value}
		}
	}
	if f.Flags.Changed("net-rtt") {
		s.RTT = []unit.Seconds{f.rtt}
	}
	if f.spec != nil {
		s.Speculation = []*infer.Speculation{f.spec}
		if f.spec.Drafter == infer.DraftModel {
			if s.DraftModels[f.spec.Model], err = find.Model(f.spec.Model); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}
