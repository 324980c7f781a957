package launch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
)

// titan writes torchtitan's flags: module and configuration function of the model,
// and the fields that the plan changes. Batches are counted in tokens.
func (b *builder) titan(p *plan.Plan, a *args) error {
	switch {
	case b.Train.Data != "":
		return fmt.Errorf("torchtitan's data are chosen in the configuration function: leave --data out and name them there")
	case b.Train.MTP > 0:
		return b.lacks("MTP modules among its flags (its configuration functions choose them)", "")
	}
	module, function, err := b.titanModel()
	if err != nil {
		return err
	}
	d := Degrees{TP: p.TP, PP: p.PP, CP: p.CP, EP: p.EP, DP: p.DP, Replicate: 1}
	switch {
	case p.ETP > 1:
		return b.lacks(fmt.Sprintf("etp=%d (experts are not cut)", p.ETP), "")
	case p.ShardGroup > 0 && p.DP%p.ShardGroup != 0:
		return fmt.Errorf("shard=%d does not divide dp=%d: use a divisor", p.ShardGroup, p.DP)
	case p.ShardGroup > 0:
		d.DP, d.Replicate = p.ShardGroup, p.DP/p.ShardGroup
	case p.ZeRO == 0:
		d.DP, d.Replicate = 1, p.DP
	case p.ZeRO == 1:
		if err := b.lacks("zero=1", "zero=2, FSDP that keeps parameters gathered after forward"); err != nil {
			return err
		}
		p.ZeRO = 2
	}
	if d.Schedule, err = b.titanSchedule(p); err != nil {
		return err
	}
	a.add("--module", module, "--config", function)
	a.add(d.Overrides(b.Engine)...)
	if p.ZeRO == 3 || p.ZeRO == 0 {
		a.add("--parallelism.fsdp_reshard_after_forward", map[int]string{3: "always", 0: "default"}[p.ZeRO])
	} else {
		a.add("--parallelism.fsdp_reshard_after_forward", "never")
	}
	if p.TP > 1 && !p.SP {
		a.add("--parallelism.no-enable-sequence-parallel")
	}
	if p.PP > 1 {
		a.add("--parallelism.num_pp_microbatches", strconv.Itoa(p.MicroBatches(b.Train.GlobalBatch)))
	}
	t := &b.Train
	a.add("--training.num_tokens_per_microbatch_per_dp_rank", strconv.Itoa(p.MicroBatch*t.Seq),
		"--training.num_tokens_per_train_step", strconv.FormatInt(int64(t.GlobalBatch)*int64(t.Seq), 10),
		"--training.max_context_length", strconv.Itoa(t.Seq))
	a.count("--training.steps", t.steps())
	b.note("activation checkpointing (recompute=%s) and FP8 converters are chosen in the configuration function %s, not by flags", p.Recompute, function)
	return nil
}

// titanSchedule is torchtitan's name of the plan's schedule, "" for one stage.
func (b *builder) titanSchedule(p *plan.Plan) (string, error) {
	if p.PP == 1 {
		return "", nil
	}
	if name := titanSchedules[p.Schedule.String()]; name != "" {
		return name, nil
	}
	near, kind := "1F1B", sched.OneFOneB
	if p.Schedule == sched.DualPipe {
		near, kind = "DualPipeV, on half the stages of two parts each", sched.DualPipeV
	}
	if err := b.lacks("schedule "+p.Schedule.String(), near); err != nil {
		return "", err
	}
	p.Schedule = kind
	name, _, _ := strings.Cut(near, ",")
	return name, nil
}

// titanModel finds the module and the configuration function whose name spells the
// model's.
func (b *builder) titanModel() (module, function string, err error) {
	want := titanKey(b.Model.Name)
	var all []string
	for _, m := range []string{"deepseek_v3", "llama3", "qwen3", "gpt_oss", "qwen3_5", "kimi_k2_7"} {
		for _, f := range b.list.Registry[m] {
			if titanKey(f) == want || titanKey(f) == want+"671b" {
				return m, f, nil
			}
			if !strings.Contains(f, "debug") {
				all = append(all, f)
			}
		}
	}
	slices.Sort(all)
	return "", "", fmt.Errorf("torchtitan %s has no configuration of %s: it has %s", b.list.Version, b.Model.Name, strings.Join(all, ", "))
}

// titanKey is a name without what its spellings differ in.
func titanKey(name string) string {
	return strings.NewReplacer("llama-3.1", "llama3", "-", "", "_", "", ".", "").Replace(strings.ToLower(name))
}
