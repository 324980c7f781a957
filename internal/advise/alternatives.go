package advise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/search"
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

// family is a named part of the space, in the words of --plan and by what else
// makes a plan a member.
type family struct {
	name   string
	text   string
	narrow func(*search.Space, *plan.Job)
	moe    bool // only for mixture-of-experts models
	dense  bool // only for other models
	nodes  bool // only where there is more than one node
}

// families are the recipes that a team would compare.
func families(j *plan.Job) []family {
	return []family{
		{name: PlainFSDP, text: "fsdp"},
		{name: "FSDP with expert parallelism", text: "zero=3,pp=1", moe: true,
			narrow: func(s *search.Space, _ *plan.Job) { s.EP = above(1, s.EP) }},
		{name: "FSDP with tensor parallelism in a node", text: "zero=3,pp=1,ep=1",
			narrow: func(s *search.Space, _ *plan.Job) { s.TP = above(1, s.TP) }},
		{name: "hybrid FSDP, sharded over whole nodes", text: "fsdp", nodes: true,
			narrow: func(s *search.Space, j *plan.Job) { s.ShardGroup = shardGroups(j) }},
		{name: "ZeRO-1 without a pipeline", text: "pp=1,zero=1"},
		{name: "tensor parallel in a node, pipeline between", text: fmt.Sprintf("tp=%d,cp=1,ep=1,zero=1", nodeTP(j)), nodes: true,
			narrow: func(s *search.Space, _ *plan.Job) { s.PP = above(1, s.PP) }},
		{name: "pipeline without overlapped pairs", text: "zero=1", moe: true,
			narrow: func(s *search.Space, _ *plan.Job) {
				s.PP, s.EP = above(1, s.PP), above(1, s.EP)
				s.Schedules = []sched.Kind{sched.OneFOneB, sched.Interleaved}
			}},
		{name: "1F1B or interleaved pipeline, ZeRO-1", text: "zero=1", dense: true,
			narrow: func(s *search.Space, _ *plan.Job) {
				s.PP, s.Schedules = above(1, s.PP), []sched.Kind{sched.OneFOneB, sched.Interleaved}
			}},
	}
}

// above keeps the values larger than n.
func above(n int, values []int) []int {
	return slices.DeleteFunc(slices.Clone(values), func(v int) bool { return v <= n })
}

// shardGroups are whole nodes, doubled up to half of all.
func shardGroups(j *plan.Job) (groups []int) {
	for g := j.NodeGPUs; 2*g <= j.GPUs; g *= 2 {
		groups = append(groups, g)
	}
	return groups
}

// nodeTP is the largest tensor-parallel degree up to 8 that divides a node and the heads.
func nodeTP(j *plan.Job) int {
	for tp := 8; tp > 1; tp /= 2 {
		if j.NodeGPUs%tp == 0 && j.GPUs%tp == 0 && j.Model.Layers[0].Attention.Heads%int64(tp) == 0 {
			return tp
		}
	}
	return 1
}

// Alternatives evaluates the families and says why each is not the best plan.
// A family whose best plan is the answer itself is left out. Like tells what the
// families train, and with which attention kernel.
func (q *Question) Alternatives(ctx context.Context, best *train.Result, like *plan.Fixed) ([]Alternative, error) {
	var list []Alternative
	if q.Job.GPUs == 1 {
		return nil, nil // nothing is parallel
	}
	for _, f := range families(q.Job) {
		if f.moe && !q.Job.Model.MoE() || f.dense && q.Job.Model.MoE() || f.nodes && q.Job.GPUs <= q.Job.NodeGPUs {
			continue
		}
		fix, err := plan.Parse(f.text)
		if err != nil {
			return nil, err
		}
		a, err := q.alternative(ctx, &f, fix.Like(like), best)
		if err != nil {
			return nil, err
		}
		if a.Plan == nil || best == nil || a.Plan.Plan.String() != best.Plan.String() {
			list = append(list, a)
		}
	}
	return list, nil
}

func (q *Question) alternative(ctx context.Context, f *family, fix *plan.Fixed, best *train.Result) (Alternative, error) {
	asked, padded := q.Padded(fix)
	r, illegal, err := asked.nearest(ctx, fix, f.narrow)
	if err != nil {
		return Alternative{}, err
	}
	a := Alternative{Name: f.name, Plan: r, asked: asked}
	if r == nil {
		a.Reason = illegal.Error()
		return a, nil
	}
	if padded.Text != "" {
		r.Warnings = append(r.Warnings, padded)
	}
	a.Reason = Reason(r, best)
	return a, nil
}

// nearest is the best plan of a partly given one: the fastest that fits, or else
// the one that lacks least memory. Where no plan is legal the result is nil and
// illegal says why.
func (q *Question) nearest(ctx context.Context, fix *plan.Fixed, narrow func(*search.Space, *plan.Job)) (r *train.Result, illegal, err error) {
	out, err := q.best(ctx, fix, narrow)
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
	return nil, cmp.Or(out.Illegal(q.Job, fix), errors.New("no plan of this kind exists for the job")), nil
}

// Padded rounds the batch up for plain FSDP over ranks that do not divide it;
// the padding counts as no tokens, and the note says so. Keys that are given
// beside fsdp must go with the padded share. Any other question comes back as it
// is, with an empty note.
func (q *Question) Padded(fix *plan.Fixed) (*Question, note.Note) {
	j := q.Job
	ranks := j.GPUs
	rest := j.GlobalBatch % ranks
	if fix == nil || !fix.Plain || rest == 0 || fix.Plan.TP*fix.Plan.CP*fix.Plan.PP != 1 || fix.Has(plan.KeyDP) && fix.Plan.DP != ranks {
		return q, note.Note{}
	}
	k := *j
	k.Idle = ranks - rest
	k.GlobalBatch += k.Idle
	share := k.GlobalBatch / ranks
	if fix.Has(plan.KeyMBS) && share%fix.Plan.MicroBatch != 0 {
		return q, note.Note{}
	}
	return q.with(func(q *Question) { q.Job = &k }), note.New(note.BatchPadded, "batch ranks each rest share less lower upper", "%d sequences do not divide over %d ranks (%.4g each): %d ranks take %d, the others %d; an engine would want %d or %d",
		j.GlobalBatch, ranks, float64(j.GlobalBatch)/float64(ranks), rest, share, share-1,
		j.GlobalBatch-rest, k.GlobalBatch)
}
