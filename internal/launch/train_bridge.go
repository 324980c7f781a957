package launch

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/plan"
)

// bridge writes Megatron-Bridge overrides, key=value on the command line of a
// training script that takes them.
func (b *builder) bridge(p *plan.Plan, a *args) error {
	if b.Train.Data != "" {
		return fmt.Errorf("megatron-bridge's data are the recipe's: leave --data out and name them in %s", b.script())
	}
	paired, err := b.interleave(p)
	if err != nil {
		return err
	}
	d := Degrees{TP: p.TP, PP: p.PP, CP: p.CP, EP: p.EP, SP: p.SP, FSDP: p.ZeRO >= 2}
	if b.Model.MoE() {
		d.ETP = p.ETP
	}
	if p.VPP > 1 {
		d.VPP = p.VPP
	}
	if d.Layout, err = b.layout(p); err != nil {
		return err
	}
	a.add(d.Overrides(b.Engine)...)
	set := func(key string, value any) {
		switch v := value.(type) {
		case bool:
			a.add(key + "=" + strconv.FormatBool(v))
		case int:
			a.add(key + "=" + strconv.Itoa(v))
		case string:
			a.add(key + "=" + v)
		}
	}
	b.bridgeUnset(&d, set)
	set("ddp.use_distributed_optimizer", p.ZeRO > 0)
	if p.ZeRO >= 2 {
		set("ddp.data_parallel_sharding_strategy", map[int]string{2: "optim_grads", 3: "optim_grads_params"}[p.ZeRO])
	}
	set("ddp.overlap_grad_reduce", p.Overlap.DP && p.ZeRO > 0)
	set("ddp.overlap_param_gather", p.Overlap.DP && p.ZeRO > 0)
	set("comm_overlap.tp_comm_overlap", p.Overlap.TP && p.TP > 1 && p.SP)
	if paired {
		set("comm_overlap.overlap_moe_expert_parallel_comm", true)
		set("comm_overlap.delay_wgrad_compute", true)
	}
	if p.EP > 1 {
		set("model.moe_token_dispatcher_type", "flex")
		set("model.moe_flex_dispatcher_backend", "deepep")
	}
	switch {
	case p.Recompute&plan.ReFull != 0:
		set("model.recompute_granularity", "full")
		set("model.recompute_method", "uniform")
		set("model.recompute_num_layers", 1)
	case p.Recompute != plan.ReNone:
		set("model.recompute_granularity", "selective")
		set("model.recompute_modules", "["+strings.Join(recomputeModules(p.Recompute), ",")+"]")
	}
	name, ok := map[string]string{"": "bf16", "bf16": "bf16", "fp8": "fp8_cs", "fp8-tensor": "fp8_cs", "mxfp8": "fp8_mx", "nvfp4": "nvfp4"}[p.Precision.Name]
	if !ok {
		return b.lacks("policy for precision "+p.Precision.Name+" among the recipes", "")
	}
	if p.Precision.Name == "fp8" {
		set("mixed_precision.fp8_recipe", "blockwise")
	}
	b.note("the precision policy %s is chosen by the recipe, not by an override", name)
	set("train.micro_batch_size", p.MicroBatch)
	set("train.global_batch_size", b.Train.GlobalBatch)
	if n := b.Train.steps(); n > 0 {
		set("train.train_iters", int(n))
	}
	set("model.seq_length", b.Train.Seq)
	set("dataset.seq_length", b.Train.Seq)
	b.note("the keys were checked against those that the public recipes set; %s must load the recipe of %s and take overrides", b.script(), b.Model.Name)
	return nil
}

// bridgeUnset overrides what a recipe sets and the plan does not have: DeepSeek-V3's
// recipes train its MTP module and state a layout that holds it.
func (b *builder) bridgeUnset(d *Degrees, set func(string, any)) {
	if d.VPP == 0 {
		set("model.virtual_pipeline_model_parallel_size", "null")
	}
	if !d.SP {
		set("model.sequence_parallel", false)
	}
	if d.Layout == "" {
		set("model.pipeline_model_parallel_layout", "null")
	}
	switch {
	case b.Train.MTP > 0:
		set("model.mtp_num_layers", b.Train.MTP)
	case len(b.Model.MTP) > 0:
		set("model.mtp_num_layers", "null")
	}
}
