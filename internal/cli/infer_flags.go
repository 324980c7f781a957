package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// inferFlags is the service, the machines and the terms as the user typed them.
type inferFlags struct {
	model, configs, plan, engine string
	clusters                     []string
	isl, osl, chunk, slots       int64
	concurrency                  []int
	weights, experts, kv         []unit.Format
	spec                         []*infer.Speculation
	rtt                          []unit.Seconds
	price                        []float64
	overlap                      []bool
	limit, skew                  float64
	slo                          deploy.SLO
	measured                     []infer.Measured
}

// engines are the serving engines whose overheads are known.
var engines = []string{"vllm", "sglang", "trtllm"}

// defaultConcurrency is what a question without --concurrency looks at.
const defaultConcurrency = "1..1024"

func newInferFlags() *inferFlags { return &inferFlags{} }

func (f *inferFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.model, "model", "", "`MODEL`: catalogue name, Hugging Face id, config.json, model folder or GGUF file")
	configsFlag(cmd, &f.configs)
	fs.Var(&quantity[[]string]{&f.clusters, parseNames, "LIST", ""}, "cluster", "GPU and count such as h200x8, a catalogue name or a YAML file; several, separated by commas, are compared")
	fs.StringVar(&f.plan, "plan", "", "`KEYS` to fix, such as tp=8 or prefill:tp=8,workers=2;decode:dp=16,ep=16; all others are searched")
	countFlag(cmd, &f.isl, "isl", "input tokens per request")
	countFlag(cmd, &f.osl, "osl", "output tokens per request")
	fs.Var(&quantity[[]int]{&f.concurrency, parseConcurrencies, "LIST", ""}, "concurrency", "requests in flight at the service: 1,8,64 or 1..128, which doubles (default "+defaultConcurrency+")")
	fs.Var(&quantity[[]unit.Format]{&f.weights, listOf(parseFormat), "LIST", ""}, "weights", "formats of the weights to compare (default: the checkpoint's)")
	fs.Var(&quantity[[]unit.Format]{&f.experts, listOf(parseFormat), "LIST", ""}, "expert-weights", "formats of the routed experts, where they differ from --weights")
	fs.Var(&quantity[[]unit.Format]{&f.kv, listOf(parseFormat), "LIST", ""}, "kv", "formats of the KV cache to compare (default bf16)")
	fs.Var(&quantity[[]*infer.Speculation]{&f.spec, listOf(infer.ParseSpeculation), "LIST", ""}, "spec", "speculation to compare: none, mtp:N[:ACCEPT], draft:MODEL:N:ACCEPT (default none)")
	fs.Var(&quantity[[]unit.Seconds]{&f.rtt, listOf(unit.ParseSeconds), "LIST", ""}, "net-rtt", "round trips between nodes to compare, in place of the fabric's own")
	fs.Var(&quantity[[]bool]{&f.overlap, listOf(parseOverlap), "LIST", ""}, "overlap", "none or two-batch (one micro-batch computes while the other's tokens travel), to compare")
	fs.Var(&quantity[float64]{&f.skew, parseSkew, "exponent", ""}, "skew", "power law of the experts' popularity, such as 0.657; plan key redundant adds balanced copies (default 0, even)")
	fs.Var(&quantity[deploy.SLO]{&f.slo, deploy.ParseSLO, "SLO", ""}, "slo", "objective such as ttft=2s,tpot=50ms; exit 3 where no plan meets it")
	fs.StringVar(&f.engine, "engine", "", "`ENGINE` whose overheads are taken: "+strings.Join(engines, ", "))
	fs.Var(&quantity[[]infer.Measured]{&f.measured, infer.ParseMeasured, "LIST", ""}, "calibrate", "measured points that the answer is scaled to: tpot=52.8ms@rtt=0.193ms[,...]")
	fs.Var(&quantity[[]float64]{&f.price, listOf(unit.ParseMoney), "LIST", ""}, "price", "USD per GPU-hour, one for all clusters or one for each (default: the cluster file's)")
	countFlag(cmd, &f.chunk, "batch-tokens", "most tokens of an engine step, which cuts prompts into chunks (default: the engine's; a search tries others)")
	countFlag(cmd, &f.slots, "max-sequences", "most sequences that generate on one instance at once (default: as many as the objective allows)")
	fs.Var(&quantity[float64]{&f.limit, unit.ParseFraction, "share", "0.9"}, "memory-limit", "share of device memory that the engine may take")
	for name, complete := range map[string]cobra.CompletionFunc{"model": completeModel, "cluster": completeCluster, "engine": completeWords(engines)} {
		if err := cmd.RegisterFlagCompletionFunc(name, complete); err != nil {
			panic(err) // a flag name mistyped above
		}
	}
}

// parseNames splits a list of names, none of which may be empty.
func parseNames(text string) ([]string, error) {
	return listOf(func(s string) (string, error) {
		if s == "" {
			return "", usagef("%q has an empty entry: remove a comma", text)
		}
		return s, nil
	})(text)
}

// request resolves names and files.
func (f *inferFlags) request(cmd *cobra.Command) (*api.InferRequest, error) {
	if err := required(cmd, "model", "cluster", "isl", "osl"); err != nil {
		return nil, err
	}
	r := &api.InferRequest{ISL: f.isl, OSL: f.osl, Concurrency: f.concurrency, KV: f.kv, RTT: f.rtt, SLO: f.slo,
		Measured: f.measured, Chunk: f.chunk, Slots: f.slots, MemoryLimit: f.limit, Speculation: f.spec, Overlap: f.overlap, Skew: f.skew, Weights: f.weights, Experts: f.experts}
	if r.Concurrency == nil {
		r.Concurrency, _ = parseConcurrencies(defaultConcurrency)
	}
	var err error
	if r.Clusters, err = f.machines(); err != nil {
		return nil, err
	}
	if r.Model, err = findModel(f.model, f.configs); err != nil {
		return nil, err
	}
	if r.Plan, err = plan.ParseServing(f.plan); err != nil {
		return nil, badInput(err)
	}
	if r.Engine, err = findEngine(f.engine); err != nil {
		return nil, err
	}
	r.DraftModels, err = f.draftModels()
	return r, err
}

// machines resolves the clusters and prices them.
func (f *inferFlags) machines() ([]*hw.Cluster, error) {
	if n := len(f.price); n > 1 && n != len(f.clusters) {
		return nil, usagef("--price lists %d prices for %d clusters: give one for all or one for each", n, len(f.clusters))
	}
	var list []*hw.Cluster
	for i, name := range f.clusters {
		c, err := catalog.Cluster(name)
		if err != nil {
			return nil, badInput(err)
		}
		if n := len(f.price); n > 0 {
			c.PricePerGPUHour = f.price[i%n]
		}
		list = append(list, c)
	}
	return list, nil
}

// findEngine checks an engine's name; none is fine.
func findEngine(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	for _, e := range engines {
		if strings.EqualFold(e, name) {
			return e, nil
		}
	}
	return "", unknownWord("engine", name, engines, "use one of "+strings.Join(engines, ", "))
}

// draftModels resolves the models that --spec draft: names.
func (f *inferFlags) draftModels() (map[string]*model.Model, error) {
	found := map[string]*model.Model{}
	for _, s := range f.spec {
		if s.Drafter != infer.DraftModel || found[s.Model] != nil {
			continue
		}
		m, err := findModel(s.Model, f.configs)
		if err != nil {
			return nil, err
		}
		found[s.Model] = m
	}
	return found, nil
}
