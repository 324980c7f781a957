package report

import (
	"strings"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// names lists the distinct names of the variants in order.
func names(a *api.InferAnswer, rtt bool) (list []string) {
	seen := map[string]bool{}
	for _, o := range a.Outcomes {
		if n := variantName(a, o.Variant, rtt); !seen[n] {
			seen[n] = true
			list = append(list, n)
		}
	}
	return list
}

// variantName tells a variant apart from the others of the answer: what the
// question lists more than one value of; "" where it is the only one.
func variantName(a *api.InferAnswer, v *deploy.Variant, rtt bool) string {
	r := a.Request
	var parts []string
	if len(r.Clusters) > 1 {
		parts = append(parts, v.Cluster.Name)
	}
	if len(r.Weights) > 1 || len(r.Experts) > 1 {
		parts = append(parts, weightsText(v))
	}
	if len(r.KV) > 1 {
		parts = append(parts, v.KV.String()+" cache")
	}
	if len(r.Speculation) > 1 {
		parts = append(parts, speculationText(v))
	}
	if len(r.Overlap) > 1 {
		parts = append(parts, overlapText(v))
	}
	if rtt && len(r.RTT) > 1 && v.RTT != nil {
		parts = append(parts, unit.FormatSeconds(*v.RTT)+" round trip")
	}
	return strings.Join(parts, ", ")
}

func weightsText(v *deploy.Variant) string {
	if v.Experts == v.Weights {
		return v.Weights.String()
	}
	return v.Weights.String() + " with " + v.Experts.String() + " experts"
}

func speculationText(v *deploy.Variant) string {
	if v.Speculation == nil || v.Speculation.Drafts == 0 {
		return "no speculation"
	}
	return v.Speculation.String()
}

func overlapText(v *deploy.Variant) string {
	if v.TwoBatch {
		return "two-batch overlap"
	}
	return "one batch"
}
