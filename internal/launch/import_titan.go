package launch

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// titanSchedules are torchtitan's names of pipeline schedules.
var titanSchedules = map[string]string{"1f1b": "1F1B", "gpipe": "GPipe", "interleaved": "Interleaved1F1B", "zb-v": "ZBVZeroBubble", "dualpipe-v": "DualPipeV"}

// fillTitan reads a torchtitan command. What its configuration function sets is
// not on the command line; a file of settings can be given beside it.
func (im *Imported) fillTitan(r *reader) {
	d := &im.Degrees
	im.Model, _ = r.text("--config")
	p := map[string]any{}
	im.Plan = p
	for k, v := range map[string]int{"tp": d.TP, "pp": d.PP, "cp": d.CP, "ep": d.EP} {
		if v > 0 {
			p[k] = v
		}
	}
	for word, name := range titanSchedules {
		if d.Schedule == name && d.PP > 1 {
			p["schedule"] = word
		}
	}
	p["zero"] = 3
	if d.DP == 1 && d.Replicate > 1 {
		p["zero"] = 0
	}
	if d.DP > 0 && d.Replicate > 0 {
		// torchtitan's sharded degree counts what remains of the world beside tp, pp
		// and cp; experts are carved out of it.
		p["dp"] = d.DP * d.Replicate
		if d.Replicate > 1 && d.DP > 1 {
			p["shard"] = d.DP
		}
		im.GPUs = d.TP * d.PP * d.CP * d.DP * d.Replicate
	}
	if d.DP < 0 {
		d.DP = 0 // the rest of the world
	}
	tokens := r.count("--training.num_tokens_per_microbatch_per_dp_rank")
	seq := r.count("--training.max_context_length")
	im.Batch = &Batch{Seq: seq}
	if seq > 0 && tokens >= seq && tokens%seq == 0 {
		im.Batch.Micro, p["mbs"] = tokens/seq, tokens/seq
	}
	if total := r.count("--training.num_tokens_per_train_step"); seq > 0 && total > 0 && total%seq == 0 {
		im.Batch.Global = total / seq
	}
}

// ofFunction leaves the sizes open that only the configuration function states, which the
// command names and nobody reads here.
func (im *Imported) ofFunction(r *reader) {
	function, given := r.text("--config")
	if !given {
		return
	}
	var open []string
	for _, f := range sizes[argv.TorchTitan] {
		if _, stated := r.text(f.flag); !stated {
			*f.size(&im.Degrees) = 0
			open = append(open, strings.TrimPrefix(f.flag, "--parallelism."))
		}
	}
	if len(open) > 0 {
		im.Warnings = append(im.Warnings, fmt.Sprintf("%s are those of the configuration function %s, which is not read: the plan leaves them open; write them as flags, or give the function's settings with --config-file", strings.Join(open, ", "), function))
	}
}
