package advise

import (
	"context"
	"fmt"

	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/train"
)

// Alternative is the best plan of a family that people would try first, with
// what keeps it from being the answer.
type Alternative struct {
	Name   string        // plain FSDP, tensor and pipeline parallel, ...
	Plan   *train.Result // nil where the family has no legal plan
	Reason string
	asked  *Question // as Plan was evaluated
}

// Asked is the question that Plan answers: its batch may be padded.
func (a *Alternative) Asked() *Question { return a.asked }

// PlainFSDP is the name of the family that shards everything over all ranks and nothing else.
const PlainFSDP = "plain FSDP"

// family is a named part of the space in the words of --plan.
type family struct {
	name  string
	text  string
	moe   bool // only for mixture-of-experts models
	nodes bool // only where there is more than one node
}

// families are the recipes that a team would compare. N stands for a node's GPUs.
func families(nodeGPUs int) []family {
	return []family{
		{PlainFSDP, "fsdp", false, false},
		{"FSDP with expert parallelism", "zero=3,pp=1", true, false},
		{"hybrid FSDP, sharded in a node", fmt.Sprintf("fsdp,shard=%d", nodeGPUs), false, true},
		{"ZeRO-1 without a pipeline", "pp=1,zero=1", false, false},
		{"tensor parallel in a node, pipeline between", fmt.Sprintf("tp=%d,cp=1,ep=1,zero=1", nodeGPUs), false, true},
		{"pipeline without overlapped pairs", "zero=1,schedule=1f1b", true, false},
	}
}

// Alternatives evaluates the families and says why each is not the best plan.
// A family whose best plan is the answer itself is left out. Like tells what the
// families train, and with which attention kernel.
func (q *Question) Alternatives(ctx context.Context, best *train.Result, like *plan.Fixed) ([]Alternative, error) {
	var list []Alternative
	if q.Job.GPUs == 1 {
		return nil, nil // nothing is parallel
	}
	for _, f := range families(min(q.Job.NodeGPUs, q.Job.GPUs)) {
		if f.moe && !q.Job.Model.MoE() || f.nodes && q.Job.GPUs <= q.Job.NodeGPUs {
			continue
		}
		fix, err := plan.Parse(f.text)
		if err != nil {
			return nil, err
		}
		a, err := q.alternative(ctx, f.name, fix.Like(like), best)
		if err != nil {
			return nil, err
		}
		if a.Plan == nil || best == nil || a.Plan.Plan.String() != best.Plan.String() {
			list = append(list, a)
		}
	}
	return list, nil
}

func (q *Question) alternative(ctx context.Context, name string, fix *plan.Fixed, best *train.Result) (Alternative, error) {
	asked, note := q.Padded(fix)
	r, illegal, err := asked.nearest(ctx, fix)
	if err != nil {
		return Alternative{}, err
	}
	a := Alternative{Name: name, Plan: r, asked: asked}
	if r == nil {
		a.Reason = illegal.Error()
		return a, nil
	}
	if note != "" {
		r.Warnings = append(r.Warnings, note)
	}
	a.Reason = Reason(r, best)
	return a, nil
}

// nearest is the best plan of a partly given one: the fastest that fits, or else
// the one that lacks least memory. Where no plan is legal the result is nil and
// illegal says why.
func (q *Question) nearest(ctx context.Context, fix *plan.Fixed) (r *train.Result, illegal, err error) {
	out, err := q.Best(ctx, fix)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case len(out.Plans) > 0:
		return out.Plans[0], nil, nil
	case out.Nearest != nil:
		return out.Nearest, nil, nil
	case out.Partial:
		return nil, fmt.Errorf("not looked at: interrupted"), nil
	}
	return nil, out.Illegal(q.Job, fix), nil
}

// Padded rounds the batch up for plain FSDP over ranks that do not divide it;
// the padding counts as no tokens, and the note says so. Any other question comes
// back as it is, with an empty note.
func (q *Question) Padded(fix *plan.Fixed) (*Question, string) {
	j := q.Job
	ranks := j.GPUs
	rest := j.GlobalBatch % ranks
	if fix == nil || !fix.Plain || rest == 0 || fix.Has(plan.KeyMBS) || fix.Has(plan.KeyDP) || fix.Plan.TP*fix.Plan.CP*fix.Plan.PP != 1 {
		return q, ""
	}
	k := *j
	k.Idle = ranks - rest
	k.GlobalBatch += k.Idle
	return q.with(func(q *Question) { q.Job = &k }), fmt.Sprintf("%d sequences do not divide over %d ranks (%.4g each): %d ranks take %d, the others %d; an engine would want %d or %d",
		j.GlobalBatch, ranks, float64(j.GlobalBatch)/float64(ranks), rest, k.GlobalBatch/ranks, k.GlobalBatch/ranks-1,
		j.GlobalBatch-rest, k.GlobalBatch)
}
