package launch

import (
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/argv"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// trainingText is the command that launch writes for a training plan, on one line.
func trainingText(t *testing.T, engine, model, text string, change func(*TrainOptions)) (string, error) {
	t.Helper()
	r := askTraining(t, engine, Shell, model, text, 16384)
	if change != nil {
		change(&r.Train)
	}
	b, err := Build(r)
	if err != nil {
		return "", err
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(b.Files[0].Content, "\\\n", "")), " ") + " ", nil
}

// TestNothingIsLeftToAFunction: settings that stand over a recipe or a configuration
// function state every size, or those of the function would stay.
func TestNothingIsLeftToAFunction(t *testing.T) {
	for _, c := range []struct{ engine, model, text, want string }{
		{argv.TorchTitan, "llama-3.1-8b", "dp=8,zero=3", "--parallelism.tensor_parallel_degree 1 --parallelism.pipeline_parallel_degree 1 --parallelism.context_parallel_degree 1 --parallelism.expert_parallel_degree 1 --parallelism.data_parallel_shard_degree 8 --parallelism.data_parallel_replicate_degree 1 "},
		{argv.MegatronBridge, "deepseek-v3", "pp=16,dp=64,ep=64,zero=1", " model.tensor_model_parallel_size=1 model.pipeline_model_parallel_size=16 model.context_parallel_size=1 model.expert_model_parallel_size=64 "},
		{argv.MegatronBridge, "deepseek-v3", "pp=16,dp=64,ep=64,zero=1", " model.virtual_pipeline_model_parallel_size=null model.sequence_parallel=false model.mtp_num_layers=null "},
		{argv.MegatronBridge, "deepseek-v3", "dp=64,ep=64,zero=1", " model.pipeline_model_parallel_layout=null "},
	} {
		got, err := trainingText(t, c.engine, c.model, c.text, nil)
		if err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %v, want %q in %s", c.engine, c.text, err, c.want, got)
		}
	}
}

// TestTrainingOptions: what is asked beside the plan is written or refused.
func TestTrainingOptions(t *testing.T) {
	for _, c := range []struct {
		engine, model, text string
		change              func(*TrainOptions)
		want, err           string
	}{
		{argv.MegatronLM, "llama-3.1-8b", "dp=16,zero=1", nil, "--attention-dropout 0.0 --hidden-dropout 0.0 ", ""},
		{argv.MegatronBridge, "deepseek-v3", "pp=16,dp=64,ep=64,zero=1", func(o *TrainOptions) { o.MTP = 1 }, "model.pipeline_model_parallel_layout='Et*4|(t*4|)*13t*4|tmL'\" ", ""},
		{argv.MegatronBridge, "deepseek-v3", "pp=16,dp=64,ep=64,zero=1", func(o *TrainOptions) { o.MTP = 1 }, " model.mtp_num_layers=1 ", ""},
		{argv.MegatronBridge, "deepseek-v3", "pp=16,dp=64,ep=64,zero=1", func(o *TrainOptions) { o.Tokens = 16384 * 4096 * 7 }, " train.train_iters=7 ", ""},
		{argv.MegatronBridge, "deepseek-v3", "pp=16,dp=64,ep=64,zero=1", func(o *TrainOptions) { o.Data = "/d" }, "", "leave --data out"},
		{argv.TorchTitan, "llama-3.1-8b", "dp=8,zero=3", func(o *TrainOptions) { o.Data = "/d" }, "", "leave --data out"},
		{argv.TorchTitan, "deepseek-v3", "dp=64,ep=64,zero=3", func(o *TrainOptions) { o.MTP = 1 }, "", "torchtitan has no MTP modules"},
		{argv.TorchTitan, "llama-3.1-8b", "dp=8,zero=3", func(o *TrainOptions) { o.Tokens = 16384*4096*7 + 1 }, "--training.steps 8 ", ""},
	} {
		got, err := trainingText(t, c.engine, c.model, c.text, c.change)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", c.engine, err, c.err)
			}
			continue
		}
		if err != nil || !strings.Contains(got, c.want) {
			t.Errorf("%s: %v, want %q in %s", c.engine, err, c.want, got)
		}
	}
}

// TestBridgeSettings: what recipes of Megatron-Bridge say beside their degrees.
func TestBridgeSettings(t *testing.T) {
	for _, c := range []struct {
		words, precision string
		zero             int
		mtp              int64
	}{
		{"mixed_precision=fp8_cs mixed_precision.fp8_recipe=blockwise", "fp8", 1, 0},
		{"mixed_precision=bf16_with_fp8_subchannel_scaling_mixed", "fp8", 1, 0},
		{"mixed_precision=fp8_cs", "fp8-tensor", 1, 0},
		{"mixed_precision=fp8_mx", "mxfp8", 1, 0},
		{"mixed_precision=nvfp4 ddp.use_distributed_optimizer=true", "nvfp4", 1, 0},
		{"mixed_precision=bf16 ddp.use_distributed_optimizer=false", "bf16", 0, 0},
		{"mixed_precision=_gpt_oss_20b_fp8mx_precision()", "mxfp8", 1, 0},
		{"train.micro_batch_size=1", "", 1, 0},
		{"model.pipeline_model_parallel_size=2 model.pipeline_model_parallel_layout=Et*3|t*2mL", "", 1, 1},
		{"model.mtp_num_layers=null model.pipeline_model_parallel_size=1", "", 1, 0},
	} {
		im, err := ImportWords(argv.MegatronBridge, Command{Words: append(strings.Fields(c.words), "model.tensor_model_parallel_size=1")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if im.Batch.Precision != c.precision || im.Plan["zero"] != c.zero || im.Batch.MTP != c.mtp || len(im.UnknownFlags) > 0 {
			t.Errorf("%s: %+v, zero=%v, unknown %q", c.words, im.Batch, im.Plan["zero"], im.UnknownFlags)
		}
	}
}

// TestBridgeRecipesHavePrecisions: every public recipe that names a policy is understood.
func TestBridgeRecipesHavePrecisions(t *testing.T) {
	for _, r := range recipes(t, argv.MegatronBridge) {
		im, err := r.load()
		if err != nil {
			t.Errorf("%s: %v", r.ID, err)
			continue
		}
		if _, named := r.Config["mixed_precision"]; !named {
			continue
		}
		if _, err := plan.ParsePrecision(im.Batch.Precision); err != nil || im.Batch.Precision == "" {
			t.Errorf("%s: precision %q of %v", r.ID, im.Batch.Precision, r.Config["mixed_precision"])
		}
	}
}

// TestFunctionsHoldTheirSizes: sizes that only torchtitan's configuration function states
// are unknown, and said so; its settings beside the command say them.
func TestFunctionsHoldTheirSizes(t *testing.T) {
	words := Command{Words: strings.Fields("--module deepseek_v3 --config deepseek_v3_16b --parallelism.expert_parallel_degree 8")}
	im, err := ImportWords(argv.TorchTitan, words, nil)
	if err != nil {
		t.Fatal(err)
	}
	if im.Degrees.TP != 0 || im.Degrees.EP != 8 || im.PlanText != "ep=8,zero=3" || len(im.Warnings) != 1 || !strings.Contains(im.Warnings[0], "tensor_parallel_degree") || strings.Contains(im.Warnings[0], "expert_parallel_degree") {
		t.Errorf("%+v of plan %s warns %q", im.Degrees, im.PlanText, im.Warnings)
	}
	if im, err = ImportWords(argv.TorchTitan, words, map[string]any{"parallelism.tensor_parallel_degree": 2}); err != nil || im.Degrees.TP != 2 || im.Degrees.PP != 1 || len(im.Warnings) != 0 {
		t.Errorf("with settings: %+v warns %q, %v", im.Degrees, im.Warnings, err)
	}
}

// TestTargetsHaveAPlace: what a target has no place for is refused, not dropped.
func TestTargetsHaveAPlace(t *testing.T) {
	for _, c := range []struct {
		target Target
		change func(*Request)
		err    string
	}{
		{Shell, func(r *Request) { r.Image = "i" }, "--image i has no place in --target shell: leave it out, or use k8s, ray, compose, slurm"},
		{Shell, func(r *Request) { r.RDMA = "rdma/ib" }, "--rdma rdma/ib has no place"},
		{Slurm, func(r *Request) { r.ModelVolume = "models" }, "--model-volume models has no place"},
		{Slurm, func(r *Request) { r.Namespace = "n" }, "--namespace n has no place"},
		{Slurm, func(r *Request) { r.Tools.Image = "i" }, "--tool-image i has no place"},
		{Kube, func(r *Request) { r.Tools.Image = "i" }, "give --load-workers or --probe-nodes"},
		{Kube, func(r *Request) { r.Tools.Results = "v" }, "--results-volume v is of load workers and probes"},
		{Compose, func(r *Request) { r.ModelVolume = "models" }, ""},
		{Ray, func(r *Request) { r.Namespace, r.RDMA = "n", "rdma/ib" }, ""},
	} {
		r := ask(t, argv.VLLM, c.target, "deepseek-r1", "tp=8")
		c.change(r)
		if _, err := Build(r); c.err == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.target, err, c.err)
		}
	}
}
