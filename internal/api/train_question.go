package api

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/advise"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/search"
)

// limits of a request beyond which a size is a mistake.
const (
	maxBatch = 1 << 24
	maxSeq   = 1 << 24

	maxStepTokens = 1 << 36 // per step
)

// question checks the request's own figures.
func question(r *TrainRequest) (*advise.Question, error) {
	switch {
	case r.GlobalBatch < 1 || r.GlobalBatch > maxBatch:
		return nil, fmt.Errorf("--global-batch %d: give 1 to %d sequences", r.GlobalBatch, maxBatch)
	case r.Seq < 1 || r.Seq > maxSeq:
		return nil, fmt.Errorf("--seq %d: give 1 to %d tokens", r.Seq, maxSeq)
	case float64(r.GlobalBatch)*float64(r.Seq) > maxStepTokens:
		return nil, fmt.Errorf("--global-batch %d x --seq %d: a step may have at most %.3g tokens", r.GlobalBatch, r.Seq, float64(maxStepTokens))
	case r.MTP < 0 || r.MTP > len(r.Model.MTP):
		return nil, fmt.Errorf("--mtp %d: %s has %d MTP modules, give at most that", r.MTP, r.Model.Name, len(r.Model.MTP))
	case r.MemoryLimit < 0 || r.MemoryLimit > 1:
		return nil, fmt.Errorf("--memory-limit %g: give a share of device memory from 0 to 1", r.MemoryLimit)
	case r.Terms.Tokens < 0 || r.Terms.Price < 0:
		return nil, fmt.Errorf("tokens and price cannot be negative")
	}
	if d := r.Cluster.Device; r.Fixed.Plan.OffloadOptim && !d.HostLink().Known() {
		return nil, fmt.Errorf("offload=optimizer: no host link rate is known for %s: set host_link_gb_per_s of a cluster file's peak", d.Name)
	}
	j := plan.NewJob(r.Model, int(r.Cluster.GPUs), int(r.Cluster.Node.GPUs), r.GlobalBatch, r.Seq, r.MTP)
	return &advise.Question{Job: j, Cluster: r.Cluster, Precision: r.Precision, Limit: r.MemoryLimit,
		Options: search.Options{Top: r.Top, Exhaustive: r.Exhaustive, Progress: r.Progress}}, nil
}
