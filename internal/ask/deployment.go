package ask

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Deployment is one service to be simulated, as it was typed: model, machines,
// plan and what the engine is told.
type Deployment struct {
	Flags *pflag.FlagSet

	model, cluster, plan, engine string
	weights, experts, kv         unit.Format
	spec                         *infer.Speculation
	rtt                          unit.Seconds
	limit                        float64
	seed                         int64
	seqs, tokens, block, blocks  int64
	slots                        int64
	routing                      string
	noPrefix, noAhead, priority  bool
	eager                        bool
	overlap                      bool
	skew                         float64
	loads                        string
}

// NewDeployment is a service of which nothing is given; name is the question's.
func NewDeployment(name string) *Deployment {
	f := &Deployment{Flags: pflag.NewFlagSet(name, pflag.ContinueOnError)}
	fs := f.Flags
	Text(fs, &f.model, "model", "`MODEL`: catalogue name, Hugging Face id, config.json, model folder or GGUF file")
	Text(fs, &f.cluster, "cluster", "`CLUSTER`: GPU and count such as h200x8, a catalogue name or a YAML file")
	Text(fs, &f.plan, "plan", "`KEYS` of the deployment, such as tp=8,replicas=2 or \"prefill:tp=8,workers=2;decode:tp=8\", quoted for the shell")
	Count(fs, &f.seed, "seed", "of all that is drawn (default 0)")
	f.engineFlags()
	BothSpellings(fs)
	return f
}

// Routings are the ways to spread requests.
var Routings = []string{"round-robin", "least-loaded"}

// engineFlags adds what an engine is told, as its own flags are called.
func (f *Deployment) engineFlags() {
	fs := f.Flags
	Text(fs, &f.engine, "engine", engineUsage)
	fs.Var(Quantity(&f.weights, Format, "FORMAT", ""), "weights", "format of the weights (default: the checkpoint's)")
	fs.Var(Quantity(&f.experts, Format, "FORMAT", ""), "expert-weights", "format of the routed experts, where it differs from --weights")
	fs.Var(Quantity(&f.kv, Format, "FORMAT", ""), "kv", "format of the KV cache (default bf16)")
	fs.Var(Quantity(&f.spec, infer.ParseSpeculation, "SPEC", ""), "spec", "speculation: none, mtp:N[:ACCEPT], draft:MODEL:N:ACCEPT (default none)")
	Duration(fs, &f.rtt, "net-rtt", "round trip between nodes, in place of the fabric's own")
	fs.Var(Quantity(&f.overlap, parseOverlap, "WORD", ""), "overlap", "none or two-batch (one micro-batch computes while the other's tokens travel; default none)")
	fs.Var(Quantity(&f.skew, parseSkew, "exponent", ""), "skew", skewUsage)
	Text(fs, &f.loads, "expert-loads", loadsUsage)
	fs.Var(Quantity(&f.limit, unit.ParseFraction, "share", "0.9"), "memory-limit", "usable share of device memory")
	Count(fs, &f.seqs, "max-num-seqs", "sequences in a step, per replica (default 1024)")
	Count(fs, &f.slots, "max-sequences", "sequences in a step, per instance, as infer counts them, in place of --max-num-seqs")
	Count(fs, &f.tokens, "max-num-batched-tokens", "tokens of a step, per replica, which cuts prompts into chunks (default: the engine's)")
	Count(fs, &f.block, "block-size", "tokens per KV block (default 16)")
	Count(fs, &f.blocks, "num-gpu-blocks", "KV blocks per replica (default: what memory holds)")
	Switch(fs, &f.eager, "enforce-eager", "no CUDA graphs: kernels start at the host's pace")
	Switch(fs, &f.noPrefix, "no-prefix-cache", "keep no KV blocks of prompts for later ones")
	Switch(fs, &f.noAhead, "no-async-scheduling", "plan a step only when the one before is over")
	Switch(fs, &f.priority, "priority", "order the queue by the requests' priority before arrival: smaller numbers first in vllm and llamacpp, larger ones in sglang and trtllm (assumed from their flags)")
	f.routing = Routings[0]
	fs.Var(Quantity(&f.routing, func(s string) (string, error) { return s, nil }, "string", Routings[0]), "routing", "spread requests over replicas: "+strings.Join(Routings, " or "))
}

// Seed is that of all that is drawn.
func (f *Deployment) Seed() uint64 { return uint64(f.seed) }

// Request resolves the service and the limits of its engines.
func (f *Deployment) Request(find Finder) (*api.InferRequest, api.SimulateLimits, error) {
	l := api.SimulateLimits{NoPrefixCache: f.noPrefix, NoAhead: f.noAhead, Priority: f.priority}
	if err := Required(f.Flags, "model", "cluster", "plan"); err != nil {
		return nil, l, err
	}
	if err := NotEmpty(f.Flags, "model", "plan", "engine", "routing", "expert-loads"); err != nil {
		return nil, l, err
	}
	if err := NotZero(f.Flags, "memory-limit"); err != nil {
		return nil, l, err
	}
	if f.Flags.Changed("max-num-seqs") && f.Flags.Changed("max-sequences") {
		return nil, l, fmt.Errorf("--max-num-seqs %d and --max-sequences %d limit the same: give one of them", f.seqs, f.slots)
	}
	service, err := f.service(find)
	if err != nil {
		return nil, l, err
	}
	for _, n := range []struct {
		flag  string
		value int64
		into  *int
	}{{"max-num-seqs", f.seqs, &l.MaxSeqs}, {"max-sequences", f.slots, &l.Slots}, {"block-size", f.block, &l.BlockSize}, {"num-gpu-blocks", f.blocks, &l.Blocks}} {
		if f.Flags.Changed(n.flag) && (n.value < 1 || n.value > math.MaxInt32) {
			return nil, l, fmt.Errorf("--%s %d: give 1 to %d", n.flag, n.value, math.MaxInt32)
		}
		*n.into = int(n.value)
	}
	switch f.routing {
	case Routings[0]:
	case Routings[1]:
		l.LeastLoaded = true
	default:
		return nil, l, UnknownWord("routing", f.routing, Routings, "use "+strings.Join(Routings, " or "))
	}
	return service, l, nil
}

// service is the deployment.
func (f *Deployment) service(find Finder) (*api.InferRequest, error) {
	s := &api.InferRequest{Chunk: f.tokens, MemoryLimit: f.limit, Eager: f.eager, Skew: f.skew, Overlap: []bool{f.overlap}, DraftModels: map[string]*model.Model{}}
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
	if s.Plan, err = servingPlan(f.plan); err != nil {
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
	if s.Loads, err = expertLoads(find, f.loads); err != nil {
		return nil, err
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
