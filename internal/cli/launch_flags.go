package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/argv"
	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/launch"
)

// launchFlags is the configuration as the user typed it.
type launchFlags struct {
	engine, version, target, plan, model, path, configs, cluster string
	name, image, namespace, volume, rdma, kv, quantization, spec string
	cache, precision, script, data, concurrency                  string
	nodeGPUs, port, context, sequences, batchTokens, stream      int64
	isl, osl, batch, seq, mtp, tokens, workers, probes           int64
	toolImage, results, routerImage                              string
	overlap, nearest                                             bool
	env                                                          []string
}

func (f *launchFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	text := func(into *string, name, usage string) { fs.StringVar(into, name, "", usage) }
	text(&f.engine, "engine", "`ENGINE`: "+strings.Join(argv.Engines(), ", "))
	text(&f.version, "engine-version", "`VERSION` of the flag list (default: the one there is)")
	text(&f.target, "target", "`TARGET`: "+strings.Join(launch.Targets(), ", "))
	text(&f.plan, "plan", "`KEYS` of the plan, as train and infer take them")
	text(&f.model, "model", "`MODEL`: catalogue name, Hugging Face id, config.json, model folder or GGUF file")
	text(&f.path, "model-path", "`PATH` or id that the engine loads (default: the model's Hugging Face id, or --model)")
	configsFlag(cmd, &f.configs)
	text(&f.cluster, "cluster", "`CLUSTER` for the GPUs of a node and the prediction, such as h200x16")
	countFlag(cmd, &f.nodeGPUs, "node-gpus", "GPUs of a node (default: the cluster's, or 8)")
	text(&f.name, "name", "`NAME` of the objects (default: from the model)")
	text(&f.image, "image", "container `IMAGE` (default: the engine's own, where it has one)")
	text(&f.routerImage, "router-image", "container `IMAGE` of a disaggregated service's router (default: --image's)")
	text(&f.namespace, "namespace", "Kubernetes `NAMESPACE`")
	text(&f.volume, "model-volume", "PersistentVolumeClaim, or volume of compose, mounted at /models: `NAME`")
	fs.StringArrayVar(&f.env, "env", nil, "`NAME=VALUE` in the environment of every command, such as NCCL_IB_HCA=mlx5; repeat it for more")
	text(&f.rdma, "rdma", "`RESOURCE` of an RDMA device per GPU, such as rdma/ib")
	countFlag(cmd, &f.probes, "probe-nodes", "add a job that measures N nodes and the ways between them (default 0)")
	text(&f.toolImage, "tool-image", "container `IMAGE` of load workers and probes, one that holds ridgeline")
	text(&f.results, "results-volume", "PersistentVolumeClaim that takes their records: `NAME`")
	ask.Switch(fs, &f.nearest, "nearest", "write the nearest thing where the engine lacks what the plan asks")
	f.registerServing(cmd)
	f.registerTraining(cmd)
	completeEngines(cmd)
	for name, complete := range map[string]cobra.CompletionFunc{"target": completeWords(launch.Targets()), "model": completeModel, "cluster": completeCluster} {
		if err := cmd.RegisterFlagCompletionFunc(name, complete); err != nil {
			panic(err) // a flag name mistyped above
		}
	}
}

func (f *launchFlags) registerServing(cmd *cobra.Command) {
	fs := cmd.Flags()
	text := func(into *string, name, usage string) { fs.StringVar(into, name, "", usage) }
	countFlag(cmd, &f.port, "port", "port of the service (default: the engine's)")
	text(&f.kv, "kv", "`FORMAT` of the KV cache, such as fp8 (default: the engine's)")
	text(&f.quantization, "quantization", "engine's `WORD` for the quantisation, passed on")
	text(&f.spec, "spec", "speculation: `mtp:N` (default none)")
	text(&f.cache, "prefix-cache", "`on|off` (default: the engine's)")
	ask.Switch(fs, &f.overlap, "overlap", "overlap two micro-batches")
	countFlag(cmd, &f.context, "max-context", "longest request in tokens")
	countFlag(cmd, &f.sequences, "max-sequences", "most sequences that generate on one instance at once, as infer counts them (default: the engine's)")
	countFlag(cmd, &f.batchTokens, "batch-tokens", "most tokens of a step of one attention replica, as infer counts them (default: the engine's)")
	countFlag(cmd, &f.stream, "stream-interval", "tokens per streamed chunk")
	countFlag(cmd, &f.isl, "isl", "input tokens per request of the evaluation")
	countFlag(cmd, &f.osl, "osl", "output tokens per request of the evaluation")
	text(&f.concurrency, "concurrency", "`LIST` of the evaluation, such as 1,8,64 or 1..128")
	countFlag(cmd, &f.workers, "load-workers", "run the evaluation from N workers on the cluster (default 0)")
}

func (f *launchFlags) registerTraining(cmd *cobra.Command) {
	fs := cmd.Flags()
	countFlag(cmd, &f.batch, "global-batch", "sequences per step")
	countFlag(cmd, &f.seq, "seq", "tokens per sequence")
	countFlag(cmd, &f.mtp, "mtp", "MTP modules trained along (default 0)")
	countFlag(cmd, &f.tokens, "tokens", "tokens of the whole run, such as 14.8T")
	fs.StringVar(&f.precision, "precision", "bf16", "`PRECISION` of training")
	fs.StringVar(&f.script, "script", "", "training `FILE` that torchrun starts (default pretrain_gpt.py of megatron-lm)")
	fs.StringVar(&f.data, "data", "", "`PATH` of the training data (default: mock data)")
}
