package ask

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/balance"
	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// Infer is a question about serving: the service, the machines and the terms as
// they were typed.
type Infer struct {
	Flags *pflag.FlagSet

	model, plan, engine  string
	loads                string
	clusters             []string
	isl, osl             workload.Length
	cached               int64
	chunk, slots         int64
	seqs                 int64
	concurrency          []int
	weights, experts, kv []unit.Format
	spec                 []*infer.Speculation
	rtt                  []unit.Seconds
	price                []float64
	overlap              []bool
	limit, skew          float64
	eager                bool
	slo                  deploy.SLO
	measured             []infer.Measured
}

// Engines are the serving engines whose overheads are known, and a name for all others.
var Engines = []string{"vllm", "sglang", "trtllm", "llamacpp", infer.OtherEngine}

var engineUsage = "`ENGINE` whose overheads are taken: " + strings.Join(Engines[:len(Engines)-1], ", ") + ", or " + infer.OtherEngine + " for one that is none of these; with a version what it gives up while it drafts: sglang@0.4"

// How the flags of uneven experts are told.
const (
	skewUsage  = "power law of the experts' popularity, such as 0.657; plan key redundant adds balanced copies (default: ranks evenly loaded, while a step touches the experts of 0.657)"
	loadsUsage = "measured load of each routed expert of a layer, in place of --skew: numbers in `FILE`"
)

// NewInfer is a question with nothing given.
func NewInfer() *Infer {
	f := &Infer{Flags: pflag.NewFlagSet("infer", pflag.ContinueOnError)}
	fs := f.Flags
	Text(fs, &f.model, "model", "`MODEL`: catalogue name, Hugging Face id, config.json, model folder or GGUF file")
	fs.Var(Quantity(&f.clusters, parseNames, "LIST", ""), "cluster", "GPU and count such as h200x8, a catalogue name or a YAML file; several, separated by commas, are compared")
	Text(fs, &f.plan, "plan", "`KEYS` to fix, such as tp=8 or \"prefill:tp=8,workers=2;decode:dp=16,ep=16\", quoted for the shell; all others are searched")
	fs.Var(Quantity(&f.isl, workload.ParseLength, "N", ""), "isl", "input tokens per request, all alike: 1024; or varied: 820..1024, 1024+-20%")
	fs.Var(Quantity(&f.osl, workload.ParseLength, "N", ""), "osl", "output tokens per request, likewise")
	Count(fs, &f.cached, "cached", "input tokens of each request, mean, that the prefix cache holds already and no engine reads")
	fs.Var(Quantity(&f.concurrency, Concurrencies, "LIST", ""), "concurrency", "requests in flight at the service: 1,8,64 or 1..128, which doubles (default: powers of two up to 1024 or to what the caches of the cluster hold, at most 65536, and under --slo the best load between)")
	fs.Var(Quantity(&f.weights, Distinct(Format), "LIST", ""), "weights", "formats of the weights to compare (default: the checkpoint's)")
	fs.Var(Quantity(&f.experts, Distinct(Format), "LIST", ""), "expert-weights", "formats of the routed experts, where they differ from --weights")
	fs.Var(Quantity(&f.kv, Distinct(Format), "LIST", ""), "kv", "formats of the KV cache to compare (default bf16)")
	fs.Var(Quantity(&f.spec, Distinct(infer.ParseSpeculation), "LIST", ""), "spec", "speculation to compare: none, mtp:N[:ACCEPT], draft:MODEL:N:ACCEPT (default none)")
	fs.Var(Quantity(&f.rtt, Distinct(unit.ParseSeconds), "LIST", ""), "net-rtt", "round trips between nodes to compare, in place of the fabric's own")
	fs.Var(Quantity(&f.overlap, Distinct(parseOverlap), "LIST", ""), "overlap", "none or two-batch (one micro-batch computes while the other's tokens travel), to compare")
	fs.Var(Quantity(&f.skew, parseSkew, "exponent", ""), "skew", skewUsage)
	Text(fs, &f.loads, "expert-loads", loadsUsage)
	fs.Var(Quantity(&f.slo, deploy.ParseSLO, "SLO", ""), "slo", "objective such as ttft=2s,tpot=50ms; exit 3 where no plan meets it")
	Text(fs, &f.engine, "engine", engineUsage)
	Switch(fs, &f.eager, "eager", "the engine runs without CUDA graphs: kernels start at the host's pace")
	fs.Var(Quantity(&f.measured, infer.ParseMeasured, "LIST", ""), "calibrate", "measured points that the answer is scaled to: tpot=52.8ms@rtt=0.193ms[,...]")
	fs.Var(Quantity(&f.price, List(parsePrice), "LIST", ""), "price", "USD per GPU-hour, one for all clusters or one for each (default: the cluster file's)")
	Count(fs, &f.chunk, "batch-tokens", "most tokens of an engine step, which cuts prompts into chunks (default: the engine's; a search tries others)")
	Count(fs, &f.slots, "max-sequences", "most sequences that generate on one instance at once (default: as many as the objective allows, at most 1024 a replica; more requests wait)")
	Count(fs, &f.seqs, "max-num-seqs", "the same limit of one attention replica, as engines count it: with --plan that gives dp, in place of --max-sequences")
	fs.Var(Quantity(&f.limit, unit.ParseFraction, "share", "0.9"), "memory-limit", "share of device memory that the engine may take")
	BothSpellings(fs)
	return f
}

// parseNames splits a list of names, none of which may be empty.
func parseNames(text string) ([]string, error) {
	return List(func(s string) (string, error) {
		if s == "" {
			return "", fmt.Errorf("%q has an empty entry: remove a comma", text)
		}
		return s, nil
	})(text)
}

// Request resolves the question.
func (f *Infer) Request(find Finder) (*api.InferRequest, error) {
	if err := Required(f.Flags, "model", "cluster", "isl", "osl"); err != nil {
		return nil, err
	}
	if err := NotEmpty(f.Flags, "model", "plan", "engine", "expert-loads"); err != nil {
		return nil, err
	}
	if err := NotZero(f.Flags, "memory-limit", "max-sequences", "max-num-seqs", "batch-tokens"); err != nil {
		return nil, err
	}
	r := &api.InferRequest{ISL: int64(f.isl.Mean() + 0.5), OSL: int64(f.osl.Mean() + 0.5), Cached: f.cached, Concurrency: f.concurrency, KV: f.kv, RTT: f.rtt, SLO: f.slo,
		Measured: f.measured, Chunk: f.chunk, Slots: f.slots, MemoryLimit: f.limit, Eager: f.eager, Speculation: f.spec, Overlap: f.overlap, Skew: f.skew, Weights: f.weights, Experts: f.experts}
	if f.isl.Varies() || f.osl.Varies() {
		r.Longest = int64(f.isl.High + f.osl.High)
		r.Spread = f.isl.Spread()
	}
	var err error
	if r.Clusters, err = f.machines(find); err != nil {
		return nil, err
	}
	if r.Model, err = find.Model(f.model); err != nil {
		return nil, err
	}
	if r.Plan, err = servingPlan(f.plan); err != nil {
		return nil, err
	}
	if err = f.perReplica(r); err != nil {
		return nil, err
	}
	if r.Engine, err = findEngine(f.engine); err != nil {
		return nil, err
	}
	if r.Loads, err = expertLoads(find, f.loads); err != nil {
		return nil, err
	}
	r.DraftModels, err = f.draftModels(find)
	return r, err
}

// expertLoads opens the measured loads of experts; nil where none are named.
func expertLoads(find Finder, file string) (*balance.Given, error) {
	if file == "" {
		return nil, nil
	}
	loads, err := find.Loads(file)
	if err != nil {
		return nil, fmt.Errorf("--expert-loads: %w", err)
	}
	return loads, nil
}

// machines resolves the clusters and prices them.
func (f *Infer) machines(find Finder) ([]*hw.Cluster, error) {
	if n := len(f.price); n > 1 && n != len(f.clusters) {
		return nil, fmt.Errorf("--price lists %d prices, --cluster %d: give one price for all clusters or one for each", n, len(f.clusters))
	}
	if sorted := slices.Sorted(slices.Values(f.clusters)); len(f.price) < 2 && len(slices.Compact(sorted)) < len(f.clusters) {
		return nil, fmt.Errorf("--cluster names a cluster twice: list each once, or give each its --price")
	}
	var list []*hw.Cluster
	for i, name := range f.clusters {
		c, err := find.Cluster(name)
		if err != nil {
			return nil, err
		}
		if n := len(f.price); n > 0 {
			setPrice(c, f.price[i%n])
		}
		list = append(list, c)
	}
	return list, nil
}

// mostPrice is a price of a GPU-hour, USD, beyond which it is a mistake.
const mostPrice = 1e6

// parsePrice reads the price of a GPU-hour.
func parsePrice(text string) (float64, error) {
	usd, err := unit.ParseMoney(text)
	if err == nil && usd > mostPrice {
		err = fmt.Errorf("%q is no price of a GPU-hour: give at most %.0f USD", text, mostPrice)
	}
	return usd, err
}

// setPrice gives a cluster the price of a GPU-hour in USD; 0 is free of charge.
func setPrice(c *hw.Cluster, usd float64) {
	c.PricePerGPUHour, c.Free = usd, usd == 0
}

// findEngine checks an engine's name, with a version or none; no name is fine.
func findEngine(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	engine, version, err := infer.SplitEngine(name)
	if err != nil {
		return "", err
	}
	if slices.Contains(Engines, engine) {
		if version != "" {
			engine += "@" + version
		}
		return engine, nil
	}
	return "", note.Of("engine", UnknownWord("engine", engine, Engines, "use one of "+strings.Join(Engines, ", ")))
}

// draftModels resolves the models that --spec draft: names.
func (f *Infer) draftModels(find Finder) (map[string]*model.Model, error) {
	found := map[string]*model.Model{}
	for _, s := range f.spec {
		if s.Drafter != infer.DraftModel || found[s.Model] != nil {
			continue
		}
		m, err := find.Model(s.Model)
		if err != nil {
			return nil, note.Of("spec", err)
		}
		found[s.Model] = m
	}
	return found, nil
}

// perReplica turns --max-num-seqs, which counts a replica, into the limit of an instance.
func (f *Infer) perReplica(r *api.InferRequest) error {
	switch {
	case !f.Flags.Changed("max-num-seqs"):
		return nil
	case f.Flags.Changed("max-sequences"):
		return fmt.Errorf("--max-num-seqs %d and --max-sequences %d limit the same: give one of them", f.seqs, f.slots)
	case f.seqs < 1 || f.seqs > deploy.MaxConcurrency:
		return fmt.Errorf("--max-num-seqs %d: give 1 to %d", f.seqs, deploy.MaxConcurrency)
	case r.Plan == nil || r.Plan.Whole == nil || !r.Plan.Whole.Has(plan.KeyDP):
		return fmt.Errorf("--max-num-seqs %d counts one of dp replicas: give dp in --plan, or --max-sequences of the instance", f.seqs)
	}
	r.Slots = f.seqs * int64(r.Plan.Whole.Serving.DP)
	return nil
}
