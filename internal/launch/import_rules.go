package launch

import (
	"bytes"
	"fmt"
	"strings"
)

// Rules are what an engine asks of several values together, which no flag list states.

// servingRules judges what SGLang and vLLM say of their experts.
func (im *Imported) servingRules(r *reader) {
	d := &im.Degrees
	if exchanges(d.A2A) && d.EP > 1 && d.TP > 0 && d.EP != d.TP {
		im.Warnings = append(im.Warnings, fmt.Sprintf("--moe-a2a-backend %s needs ep = tp, and --ep-size %d stands beside --tp-size %d: write --ep-size %d, as the plan here says", d.A2A, d.EP, d.TP, d.TP))
	}
	for _, flag := range []string{"--ep-num-redundant-experts", "--eplb-config"} {
		v, given := r.text(flag)
		if k, ok := r.key(flag, "num_redundant_experts"); ok {
			v, given = fmt.Sprint(k), true
		}
		if given && strings.HasPrefix(v, "-") {
			im.IllegalValues = append(im.IllegalValues, fmt.Sprintf("flag %s takes redundant experts from 0 on, not %q", flag, v))
		}
	}
}

// exchanges tells whether a backend of SGLang sends tokens between experts, which
// needs ep = tp (sglang/srt/server_args.py).
func exchanges(a2a string) bool { return a2a != "" && a2a != "none" && !strings.Contains(a2a, "$") }

// trainingRules judges a training command's layout against its layers and its batch
// against its ranks (megatron/training/arguments.py, megatron/core/num_microbatches_calculator.py).
func (im *Imported) trainingRules(r *reader, n trainFlags) {
	d, batch := &im.Degrees, im.Batch
	if stages, err := LayoutStages(d.Layout); err == nil && d.Layout != "" && !strings.Contains(d.Layout, "$") {
		flat := bytes.Join(stages, nil)
		for _, part := range []struct {
			letter, flag string
			want         int64
		}{{"t", n.layers, r.count(n.layers)}, {"m", n.mtp, batch.MTP}, {"E", "", 1}, {"L", "", 1}} {
			got := int64(bytes.Count(flat, []byte(part.letter)))
			switch _, stated := r.text(part.flag); {
			case got == part.want || part.flag != "" && !stated:
			case part.flag == "":
				im.Warnings = append(im.Warnings, fmt.Sprintf("layout %s holds %d %s: one is needed", brief([]string{d.Layout}), got, part.letter))
			case part.want > 0:
				im.Warnings = append(im.Warnings, fmt.Sprintf("layout %s holds %d %s and %s is %d: mend one of them", brief([]string{d.Layout}), got, part.letter, part.flag, part.want))
			}
		}
	}
	step, what := batch.Micro, fmt.Sprintf("%s %d", n.mbs, batch.Micro)
	if d.DP > 1 {
		step, what = step*int64(d.DP), fmt.Sprintf("%s %d x dp %d = %d", n.mbs, batch.Micro, d.DP, step*int64(d.DP))
	}
	if step > 0 && batch.Global%step != 0 {
		im.Warnings = append(im.Warnings, fmt.Sprintf("%s %d does not divide by %s: change one of them", n.gbs, batch.Global, what))
	}
}
