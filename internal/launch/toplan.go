package launch

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/argv"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// The roles of a disaggregated deployment.
const (
	prefill = "prefill"
	decode  = "decode"
)

// Serving is the plan that the degrees of one engine instance mean. It is an error
// that a size is unknown or does not divide; the error names both sizes.
//
// SGLang's --dp-size splits TP under attention DP and makes independent replicas
// without it; TensorRT-LLM's attention DP takes every TP rank; vLLM's experts lie
// on TP x DP ranks or nowhere apart.
func (d *Degrees) Serving(engine string) (s plan.Serving, err error) {
	s = plan.Serving{TP: d.TP, PP: d.PP, DP: max(d.DP, 1), EP: max(d.EP, 1), DCP: max(d.DCP, 1), Replicas: 1}
	if d.TP < 1 || d.PP < 1 || (engine == argv.VLLM || engine == argv.SGLang) && d.DP < 1 {
		return s, fmt.Errorf("a size is not known")
	}
	switch engine {
	case argv.VLLM:
		if s.EP = 1; d.Experts {
			s.EP = d.TP * d.DP
		}
	case argv.SGLang:
		switch {
		case !d.DPAttention:
			s.DP, s.Replicas = 1, d.DP
		case d.TP%d.DP != 0:
			return s, fmt.Errorf("--dp-size %d does not divide --tp-size %d, which attention DP splits", d.DP, d.TP)
		default:
			s.TP = d.TP / d.DP
		}
		// Backends that send tokens between experts need ep = tp and set it.
		if exchanges(d.A2A) {
			s.EP = d.TP
		}
	case argv.TRTLLM:
		if s.DP = 1; d.DPAttention {
			s.TP, s.DP = 1, d.TP
		}
	}
	switch {
	case s.Ranks()%s.EP != 0:
		return s, fmt.Errorf("ep %d does not divide the %d ranks of tp x dp", s.EP, s.Ranks())
	case s.DCP > 1 && s.TP%s.DCP != 0:
		return s, fmt.Errorf("dcp %d does not divide tp %d", s.DCP, s.TP)
	}
	return s, nil
}

// servingPlan is a layout as the keys and values of a plan.
func servingPlan(s plan.Serving, redundant int) map[string]any {
	p := map[string]any{"tp": s.TP, "pp": s.PP, "dp": s.DP, "ep": s.EP}
	for k, n := range map[string]int{"dcp": s.DCP, "replicas": s.Replicas} {
		if n > 1 {
			p[k] = n
		}
	}
	if redundant > 0 && s.EP > 1 {
		p["redundant"] = redundant
	}
	return p
}

// planOrder is the order in which plan texts state their keys.
var planOrder = []string{"tp", "pp", "vpp", "dp", "cp", "ep", "etp", "dcp", "replicas", "redundant", "zero", "shard", "schedule", "mbs", "recompute", "sp", "cpcomm", "overlap", "offload"}

// planText writes a plan's keys for --plan.
func planText(p map[string]any) string {
	var items []string
	for _, k := range planOrder {
		if v, ok := p[k]; ok {
			items = append(items, fmt.Sprintf("%s=%v", k, v))
		}
	}
	return strings.Join(items, ",")
}
