package launch

import (
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// Degrees are the parallel sizes as an engine's own flags state them. 0 is
// unknown: the flag holds a variable, or the engine derives the size from the
// world.
type Degrees struct {
	TP          int    `json:"tp,omitempty"`
	PP          int    `json:"pp,omitempty"`
	DP          int    `json:"dp,omitempty"`
	EP          int    `json:"ep,omitempty"` // vLLM has no size flag: TP x DP where experts are parallel
	DPAttention bool   `json:"dp_attention"`
	CP          int    `json:"cp,omitempty"`
	DCP         int    `json:"dcp,omitempty"`
	DPLocal     int    `json:"dp_local,omitempty"`
	DenseTP     int    `json:"moe_dense_tp,omitempty"`
	ETP         int    `json:"etp,omitempty"`
	VPP         int    `json:"vpp,omitempty"`
	Replicate   int    `json:"dp_replicate,omitempty"` // torchtitan: DP is the sharded part beside it, -1 = the rest
	A2A         string `json:"a2a,omitempty"`
	SP          bool   `json:"sp,omitempty"`
	FSDP        bool   `json:"fsdp,omitempty"`
	Layout      string `json:"layout,omitempty"`
	Schedule    string `json:"schedule,omitempty"`
	Experts     bool   `json:"-"` // vLLM: experts are parallel, whatever the product is
}

// sizeFlag ties a flag to the size that it states. Absent it means unset.
type sizeFlag struct {
	flag  string
	size  func(*Degrees) *int
	unset int
}

func tpOf(d *Degrees) *int        { return &d.TP }
func ppOf(d *Degrees) *int        { return &d.PP }
func dpOf(d *Degrees) *int        { return &d.DP }
func epOf(d *Degrees) *int        { return &d.EP }
func cpOf(d *Degrees) *int        { return &d.CP }
func dcpOf(d *Degrees) *int       { return &d.DCP }
func etpOf(d *Degrees) *int       { return &d.ETP }
func vppOf(d *Degrees) *int       { return &d.VPP }
func denseOf(d *Degrees) *int     { return &d.DenseTP }
func localOf(d *Degrees) *int     { return &d.DPLocal }
func replicateOf(d *Degrees) *int { return &d.Replicate }

// sizes lists the size flags by engine, in the order they are written.
var sizes = map[string][]sizeFlag{
	argv.VLLM: {{"--tensor-parallel-size", tpOf, 1}, {"--pipeline-parallel-size", ppOf, 1}, {"--data-parallel-size", dpOf, 1},
		{"--decode-context-parallel-size", dcpOf, 0}, {"--prefill-context-parallel-size", cpOf, 0}, {"--data-parallel-size-local", localOf, 0}},
	argv.SGLang: {{"--tp-size", tpOf, 1}, {"--pp-size", ppOf, 1}, {"--dp-size", dpOf, 1}, {"--ep-size", epOf, 1},
		{"--attn-cp-size", cpOf, 0}, {"--dcp-size", dcpOf, 0}, {"--moe-dense-tp-size", denseOf, 0}},
	argv.TRTLLM: {{"--tensor_parallel_size", tpOf, 1}, {"--pipeline_parallel_size", ppOf, 1}, {"--moe_expert_parallel_size", epOf, 1},
		{"--context_parallel_size", cpOf, 0}},
	argv.MegatronLM: {{"--tensor-model-parallel-size", tpOf, 1}, {"--pipeline-model-parallel-size", ppOf, 1},
		{"--num-virtual-stages-per-pipeline-rank", vppOf, 0}, {"--context-parallel-size", cpOf, 1},
		{"--expert-model-parallel-size", epOf, 1}, {"--expert-tensor-parallel-size", etpOf, 0}},
	argv.MegatronBridge: {{"model.tensor_model_parallel_size", tpOf, 1}, {"model.pipeline_model_parallel_size", ppOf, 1},
		{"model.virtual_pipeline_model_parallel_size", vppOf, 0}, {"model.context_parallel_size", cpOf, 1},
		{"model.expert_model_parallel_size", epOf, 1}, {"model.expert_tensor_parallel_size", etpOf, 0}},
	argv.TorchTitan: {{"--parallelism.tensor_parallel_degree", tpOf, 1}, {"--parallelism.pipeline_parallel_degree", ppOf, 1},
		{"--parallelism.context_parallel_degree", cpOf, 1}, {"--parallelism.expert_parallel_degree", epOf, 1},
		{"--parallelism.data_parallel_shard_degree", dpOf, -1}, {"--parallelism.data_parallel_replicate_degree", replicateOf, 1}},
}

// switchFlag ties a bool flag to the switch that it turns on.
type switchFlag struct {
	flag string
	on   func(*Degrees) *bool
}

var switches = map[string][]switchFlag{
	argv.VLLM:           {{"--enable-expert-parallel", func(d *Degrees) *bool { return &d.Experts }}},
	argv.SGLang:         {{"--enable-dp-attention", func(d *Degrees) *bool { return &d.DPAttention }}},
	argv.TRTLLM:         {{"--enable_attention_dp", func(d *Degrees) *bool { return &d.DPAttention }}},
	argv.MegatronLM:     {{"--sequence-parallel", func(d *Degrees) *bool { return &d.SP }}, {"--use-megatron-fsdp", func(d *Degrees) *bool { return &d.FSDP }}},
	argv.MegatronBridge: {{"model.sequence_parallel", func(d *Degrees) *bool { return &d.SP }}, {"ddp.use_megatron_fsdp", func(d *Degrees) *bool { return &d.FSDP }}},
}

// wordFlag ties a flag to the word that it states.
type wordFlag struct {
	flag string
	word func(*Degrees) *string
}

var wordFlags = map[string][]wordFlag{
	argv.SGLang:         {{"--moe-a2a-backend", func(d *Degrees) *string { return &d.A2A }}},
	argv.MegatronLM:     {{"--pipeline-model-parallel-layout", func(d *Degrees) *string { return &d.Layout }}},
	argv.MegatronBridge: {{"model.pipeline_model_parallel_layout", func(d *Degrees) *string { return &d.Layout }}},
	argv.TorchTitan:     {{"--parallelism.pipeline_parallel_schedule", func(d *Degrees) *string { return &d.Schedule }}},
}

// Flags writes the degrees as the engine's parallel flags, sizes that are the
// engine's default left out.
func (d *Degrees) Flags(engine string) []string { return d.flags(engine, false) }

// Overrides writes every size, those that are the engine's default, too: settings that
// stand over a function or recipe whose own sizes would stay where one is left out.
func (d *Degrees) Overrides(engine string) []string { return d.flags(engine, true) }

func (d *Degrees) flags(engine string, all bool) []string {
	var out []string
	put := func(flag string, values ...string) {
		if engine == argv.MegatronBridge {
			out = append(out, flag+"="+values[0])
			return
		}
		out = append(append(out, flag), values...)
	}
	bare := engine != argv.MegatronBridge
	for _, f := range sizes[engine] {
		if f.flag == "--num-virtual-stages-per-pipeline-rank" && d.Layout != "" {
			continue // the layout states it, and excludes the flag
		}
		if n := *f.size(d); n != 0 && (all || n != f.unset) {
			put(f.flag, strconv.Itoa(n))
		}
	}
	for _, f := range switches[engine] {
		switch {
		case *f.on(d) && bare:
			out = append(out, f.flag)
		case *f.on(d):
			put(f.flag, "true")
		}
	}
	for _, f := range wordFlags[engine] {
		w := *f.word(d)
		if engine == argv.MegatronBridge && strings.ContainsAny(w, "()") { // which Hydra's grammar takes in quotes only
			w = "'" + w + "'"
		}
		if w != "" {
			put(f.flag, w)
		}
	}
	return out
}
