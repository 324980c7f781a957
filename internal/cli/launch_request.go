package cli

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/argv"
	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/launch"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// maxTools bounds the tasks of a job: Slurm's default MaxArraySize is 1001.
const maxTools = 1000

// maxCount is a length or a limit beyond which a figure is a mistake.
const maxCount = 1 << 24

// defaultNodeGPUs is the node of the default machines.
const defaultNodeGPUs = 8

// request resolves names and files.
func (f *launchFlags) request(cmd *cobra.Command) (*api.LaunchRequest, error) {
	if err := required(cmd, "engine", "target", "plan", "model"); err != nil {
		return nil, err
	}
	if err := notEmpty(cmd, "plan", "model-path", "name", "image", "router-image", "namespace", "model-volume", "rdma", "cluster", "kv",
		"quantization", "spec", "prefix-cache", "concurrency", "script", "data", "tool-image", "results-volume", "configs"); err != nil {
		return nil, err
	}
	if err := notZero(cmd, "node-gpus", "port", "max-context", "max-sequences", "batch-tokens", "stream-interval", "isl", "osl", "global-batch", "seq", "tokens"); err != nil {
		return nil, err
	}
	for _, o := range []struct {
		name string
		n    int64
	}{{"node-gpus", f.nodeGPUs}, {"isl", f.isl}, {"osl", f.osl}, {"max-context", f.context}, {"max-sequences", f.sequences}, {"batch-tokens", f.batchTokens}, {"stream-interval", f.stream}} {
		if o.n > maxCount {
			return nil, usagef("--%s %d: give at most %d", o.name, o.n, maxCount)
		}
	}
	if !slices.Contains(argv.Engines(), f.engine) {
		return nil, unknownWord("engine", f.engine, argv.Engines(), "use one of "+strings.Join(argv.Engines(), ", "))
	}
	if !slices.Contains(launch.Targets(), f.target) {
		return nil, unknownWord("target", f.target, launch.Targets(), "use one of "+strings.Join(launch.Targets(), ", "))
	}
	r := &api.LaunchRequest{Request: launch.Request{Engine: f.engine, Version: f.version, Target: launch.Target(f.target), ModelPath: f.path,
		Name: f.name, Image: f.image, RouterImage: f.routerImage, Namespace: f.namespace, ModelVolume: f.volume, RDMA: f.rdma, Env: f.env, Machine: f.cluster, Nearest: f.nearest, NodeGPUs: int(f.nodeGPUs)}}
	for name, n := range map[string]int64{"load-workers": f.workers, "probe-nodes": f.probes} {
		if n > maxTools {
			return nil, usagef("--%s %d: give at most %d", name, n, maxTools)
		}
	}
	r.Tools = launch.Tools{Workers: int(f.workers), Probes: int(f.probes), Image: f.toolImage, Results: f.results}
	var err error
	if r.Model, err = findModel(f.model, f.configs); err != nil {
		return nil, err
	}
	if f.cluster != "" {
		if r.Cluster, err = catalog.Cluster(f.cluster); err != nil {
			return nil, badInput(err)
		}
	}
	if r.NodeGPUs == 0 {
		if r.NodeGPUs = defaultNodeGPUs; r.Cluster != nil {
			r.NodeGPUs = int(r.Cluster.Node.GPUs)
		}
	}
	if r.ModelPath == "" {
		// An id or a path is loaded as it was typed; a catalogue name has its own id.
		if r.ModelPath = r.Model.HFID; r.ModelPath == "" || isPath(f.model) || strings.Contains(f.model, "/") {
			r.ModelPath = f.model
		}
	}
	if r.Name == "" {
		r.Name = launch.Label(r.Model.Name)
	}
	if slices.Contains([]string{argv.VLLM, argv.SGLang, argv.TRTLLM, argv.LlamaCPP}, f.engine) {
		if f.path == "" && r.Model.HFID == "" && !isPath(f.model) && !strings.Contains(f.model, "/") {
			return nil, usagef("%s has no Hugging Face id that %s could load: give --model-path", r.Model.Name, f.engine)
		}
		return r, cmp.Or(f.otherKind(cmd, "serves", trainingOnly), f.serving(r))
	}
	return r, cmp.Or(f.otherKind(cmd, "trains", servingOnly), f.training(r))
}

// The flags that only one kind of plan has, and what the other has in place of some.
var (
	trainingOnly = map[string]string{"global-batch": "--max-sequences limits what is served at once", "seq": "--isl and --osl are the lengths of requests",
		"mtp": "--spec mtp:N drafts", "tokens": "", "precision": "--kv and --quantization are the formats", "script": "", "data": ""}
	servingOnly = map[string]string{"port": "", "kv": "--precision is the format", "quantization": "--precision is the format", "spec": "--mtp N trains modules", "prefix-cache": "", "overlap": "overlap is a key of the plan",
		"max-context": "--seq is the length", "max-sequences": "--global-batch is the batch", "batch-tokens": "mbs is a key of the plan", "stream-interval": "", "isl": "", "osl": "", "concurrency": "", "load-workers": ""}
)

// otherKind refuses flags that the other kind of plan has.
func (f *launchFlags) otherKind(cmd *cobra.Command, does string, flags map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		if !cmd.Flags().Changed(name) {
			continue
		}
		mend := "leave it out"
		if flags[name] != "" {
			mend += ", " + flags[name]
		}
		return usagef("--%s says nothing of %s, which %s: %s", name, f.engine, does, mend)
	}
	return nil
}

func (f *launchFlags) serving(r *api.LaunchRequest) error {
	var err error
	if r.ServingText, err = plan.ParseServing(f.plan); err != nil {
		return badInput(err)
	}
	o := &r.Serve
	*o = launch.ServeOptions{Port: int(f.port), KV: f.kv, Quantization: f.quantization, TwoBatch: f.overlap, MaxContext: f.context,
		MaxSequences: f.sequences, BatchTokens: f.batchTokens, StreamInterval: f.stream, ISL: f.isl, OSL: f.osl, Concurrency: f.concurrency}
	if f.port < 0 || f.port > 65535 {
		return usagef("--port %d: give 1 to 65535", f.port)
	}
	if f.concurrency != "" {
		if r.Concurrency, err = ask.Concurrencies(f.concurrency); err != nil {
			return usagef("--concurrency: %w", err)
		}
	}
	r.Tools.Levels = r.Concurrency
	switch f.cache {
	case "":
	case "on", "off":
		on := f.cache == "on"
		o.PrefixCache = &on
	default:
		return usagef("--prefix-cache %q: give on or off", f.cache)
	}
	if f.spec == "" {
		return nil
	}
	if r.Speculation, err = infer.ParseSpeculation(f.spec); err != nil {
		return usagef("--spec: %w; launch writes mtp:N or none", err)
	}
	if r.Speculation.Drafter == infer.DraftModel {
		return usagef("--spec %q: launch writes mtp:N or none", f.spec)
	}
	o.Drafts = r.Speculation.Drafts
	return nil
}

func (f *launchFlags) training(r *api.LaunchRequest) error {
	var err error
	if r.Fixed, err = plan.Parse(f.plan); err != nil {
		return badInput(err)
	}
	if r.Precision, err = plan.ParsePrecision(f.precision); err != nil {
		return badInput(err)
	}
	const most = 1 << 24
	if f.batch > most || f.seq > most || f.mtp > 16 {
		return usagef("--global-batch, --seq and --mtp are at most %d, %d and 16: lower them", most, most)
	}
	r.Train = launch.TrainOptions{GlobalBatch: int(f.batch), Seq: int(f.seq), MTP: int(f.mtp), Tokens: f.tokens, Script: f.script, Data: f.data}
	return nil
}
