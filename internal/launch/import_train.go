package launch

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// trainFlags names the flags of Megatron-LM and Megatron-Bridge for the same thing.
type trainFlags struct {
	layers, virtualLayers, mbs, gbs, seq, optimizer, strategy, granularity, modules, experts, cpComm, mtp string
}

var trainNames = map[string]trainFlags{
	argv.MegatronLM: {"--num-layers", "--num-layers-per-virtual-pipeline-stage", "--micro-batch-size", "--global-batch-size", "--seq-length",
		"--use-distributed-optimizer", "--data-parallel-sharding-strategy", "--recompute-granularity", "--recompute-modules", "--num-experts", "--cp-comm-type", "--mtp-num-layers"},
	argv.MegatronBridge: {"", "", "train.micro_batch_size", "train.global_batch_size", "model.seq_length",
		"ddp.use_distributed_optimizer", "ddp.data_parallel_sharding_strategy", "model.recompute_granularity", "model.recompute_modules", "", "", "model.mtp_num_layers"},
}

// fillMegatron reads a Megatron-LM command or Megatron-Bridge settings.
func (im *Imported) fillMegatron(r *reader) {
	d, n := &im.Degrees, trainNames[im.Engine]
	if strings.EqualFold(d.Layout, "none") || strings.EqualFold(d.Layout, "null") || strings.Contains(d.Layout, "model default") {
		d.Layout = ""
	}
	im.Batch = &Batch{Global: r.count(n.gbs), Micro: r.count(n.mbs), Seq: r.count(n.seq), MTP: r.count(n.mtp)}
	if im.Engine == argv.MegatronLM {
		im.Batch.Precision = r.precision()
	} else {
		im.Batch.Precision = r.bridgePrecision()
	}
	p := map[string]any{}
	im.Plan = p
	vpp, err := im.virtual(r, n)
	if err != nil {
		r.err = err
		return
	}
	for k, v := range map[string]int{"tp": d.TP, "pp": d.PP, "cp": d.CP, "ep": d.EP, "vpp": vpp, "mbs": int(im.Batch.Micro)} {
		if v > 0 {
			p[k] = v
		}
	}
	switch {
	case vpp > 1:
		p["schedule"] = "interleaved"
	case vpp == 1:
		p["schedule"] = "1f1b"
	}
	p["zero"] = r.zero(d, n)
	if d.SP && d.TP > 1 {
		p["sp"] = 1
	}
	// Megatron-LM cuts experts as TP cuts, unless told otherwise; Megatron-Bridge's
	// recipes of MoE models tell it otherwise in what overrides build on.
	if d.ETP > 0 {
		p["etp"] = d.ETP
	} else if im.Engine == argv.MegatronBridge {
		if d.EP > 1 {
			p["etp"] = 1
		}
	} else if _, moe := r.text(n.experts); d.EP > 1 && d.TP > 0 || moe && d.TP > 0 {
		p["etp"] = d.TP
	}
	if re, known := im.recompute(r, n); known {
		p["recompute"] = re
	}
	if perNode, nodes := torchrun(im.prog.before); perNode > 0 && nodes > 0 && d.TP*d.PP*d.CP > 0 {
		im.GPUs = perNode * nodes
		if model := d.TP * d.PP * d.CP; im.GPUs%model == 0 {
			d.DP = im.GPUs / model
			p["dp"] = d.DP
		} else {
			im.Warnings = append(im.Warnings, fmt.Sprintf("%d GPUs do not divide by tp x pp x cp = %d", im.GPUs, model))
		}
	}
	im.trainingRules(r, n)
}

// virtual is the model parts per rank: stated, or from a layout's stages.
func (im *Imported) virtual(r *reader, n trainFlags) (int, error) {
	d := &im.Degrees
	if d.Layout != "" && d.PP > 0 && !strings.Contains(d.Layout, "$") {
		stages, err := LayoutStages(d.Layout)
		if err != nil {
			return 0, err
		}
		if len(stages)%d.PP != 0 {
			return 0, fmt.Errorf("layout %q has %d stages, which pp=%d does not divide: mend the layout", d.Layout, len(stages), d.PP)
		}
		if im.Engine == argv.MegatronLM {
			d.VPP = len(stages) / d.PP
		} else if _, stated := r.text(n.mtp); !stated { // by the recipe, whose layout holds them
			im.Batch.MTP = int64(bytes.Count(bytes.Join(stages, nil), []byte("m")))
		}
		return len(stages) / d.PP, nil
	}
	if v, _ := r.text(n.virtualLayers); strings.Contains(v, "$") {
		r.unresolved = append(r.unresolved, v)
		return 0, nil
	}
	if per, layers := r.count(n.virtualLayers), r.count(n.layers); per > 0 && layers > 0 && d.PP > 0 {
		return int(max(1, layers/(per*int64(d.PP)))), nil
	}
	return max(d.VPP, 1), nil
}

// precision is the policy of package plan that Megatron-LM's flags mean, "" where it
// is none of them. It undoes megatronPrecision.
func (r *reader) precision() string {
	switch recipe, _ := r.text("--fp8-recipe"); {
	case r.on("--fp4-format"):
		return "nvfp4"
	case r.on("--fp8-format") && recipe == "blockwise":
		return "fp8"
	case r.on("--fp8-format") && recipe == "mxfp8":
		return "mxfp8"
	case r.on("--fp8-format"):
		return "fp8-tensor"
	case r.on("--fp16"):
		return "fp16"
	case r.on("--bf16"):
		return "bf16"
	}
	return ""
}

// bridgePrecision is the policy that Megatron-Bridge's name for one means: the names of
// its recipes (fp8_cs: current scaling, fp8_mx, nvfp4), those that it registers
// (training/mixed_precision.py) and functions of such names.
func (r *reader) bridgePrecision() string {
	name, _ := r.text("mixed_precision")
	recipe, _ := r.text("mixed_precision.fp8_recipe")
	switch has := func(part string) bool { return strings.Contains(name, part) }; {
	case has("nvfp4"):
		return "nvfp4"
	case has("fp8") && (recipe == "blockwise" || has("subchannel")), name == "" && recipe == "blockwise":
		return "fp8"
	case has("fp8_mx"), has("fp8mx"), has("mxfp8"), recipe == "mxfp8":
		return "mxfp8"
	case has("fp8"), name == "" && recipe == "tensorwise":
		return "fp8-tensor"
	case has("bf16"):
		return "bf16"
	case has("fp16"):
		return "fp16"
	}
	return ""
}

// zero is the ZeRO stage that optimizer and FSDP flags mean.
func (r *reader) zero(d *Degrees, n trainFlags) int {
	switch strategy, given := r.text(n.strategy); {
	case d.FSDP && (!given || strategy == "optim_grads_params"):
		return 3
	case d.FSDP && strategy == "optim_grads":
		return 2
	case d.FSDP && strategy == "no_shard":
		return 0
	case d.FSDP, r.on(n.optimizer):
		return 1
	}
	// Megatron-Bridge's recipes turn it on in what they share (recipes/common.py), and only
	// those that turn it off say so.
	if _, stated := r.text(n.optimizer); !stated && r.line.List.Engine == argv.MegatronBridge {
		return 1
	}
	return 0
}

// recomputed are Megatron-LM's names of modules in Ridgeline's words, in the order
// of package plan. mlp and shared_experts have no counterpart.
var recomputed = []struct{ megatron, word string }{
	{"layernorm", "norm"}, {"moe_act", "act"}, {"mla_up_proj", "mla-up"}, {"core_attn", "attention"}, {"moe", "moe"},
}

// recompute is the plan's key of that name; known is false for modules of which
// Ridgeline knows none.
func (im *Imported) recompute(r *reader, n trainFlags) (string, bool) {
	g, _ := r.text(n.granularity)
	modules := r.all(n.modules)
	switch {
	case g == "full":
		return "full", true
	case g != "selective" && (im.Engine == argv.MegatronLM || len(modules) == 0):
		return "none", true
	case len(modules) == 0:
		return "attention", true // the default of --recompute-modules is core_attn
	}
	var list []string
	for _, m := range recomputed {
		for _, word := range modules {
			if word == m.megatron {
				list = append(list, m.word)
			}
		}
	}
	for _, word := range modules {
		if word == "mlp" || word == "shared_experts" {
			im.Warnings = append(im.Warnings, fmt.Sprintf("recomputation of %s has no counterpart in a plan and is left out", word))
		}
	}
	return strings.Join(list, "+"), len(list) > 0
}

// all are the words of a list flag, however they are written.
func (r *reader) all(flag string) []string {
	f := r.line.List.Flag(flag)
	for i := len(r.line.Args) - 1; i >= 0 && f != nil; i-- {
		if a := &r.line.Args[i]; a.Flag == f {
			return strings.FieldsFunc(strings.Join(a.Values, " "), func(c rune) bool { return strings.ContainsRune(` ,[]"'`, c) })
		}
	}
	return nil
}
