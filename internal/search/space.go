// Package search walks the legal plans of a job, cheap checks first, and keeps
// the best: every candidate is either illegal (counted by cause), too large for
// memory (counted, the nearest kept), shown by a proved lower bound to be slower
// than the plans already kept, or laid out and ranked. Nothing is skipped for
// any other reason, so the pruned search and the exhaustive one agree.
package search

import (
	"slices"

	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/train"
)

// Space is the values of each dimension that a search combines. DP follows from
// the world size unless it is given.
type Space struct {
	TP, CP, PP, EP, ETP, VPP []int
	DP                       int // 0 = follows from the others
	MicroBatch               []int
	ZeRO                     []int
	ShardGroup               []int
	SP, CPAllToAll, Offload  []bool
	Schedules                []sched.Kind
	Recompute                []plan.Recompute
	Overlap                  []plan.Overlap
	// Base holds what is the same for all candidates: precision, tuning, kernels.
	Base plan.Plan
}

// FixedSchedules are the kinds whose order does not depend on measured times;
// the automatic zero-bubble schedulers (zb-1p, zb-2p) are laid out on request.
var FixedSchedules = []sched.Kind{sched.OneFOneB, sched.GPipe, sched.Interleaved, sched.ZBH1, sched.ZBH2, sched.ZBV, sched.DualPipe, sched.DualPipeV}

// DefaultOverlap is what current engines switch on: tensor-parallel collectives
// pipelined with their products, data-parallel ones behind the passes,
// boundaries sent asynchronously.
var DefaultOverlap = plan.Overlap{TP: true, DP: true, PP: true}

// NewSpace is the whole legal space of a job, with the keys that the user fixed
// reduced to their value.
func NewSpace(j *plan.Job, f *plan.Fixed, pr plan.Precision) *Space {
	s := &Space{
		TP: divisors(j.NodeGPUs), CP: contexts(j), PP: divisors(j.GPUs), EP: []int{1}, ETP: []int{1},
		VPP: upTo(min(j.MostChunks(), sched.MaxVPP)), MicroBatch: divisors(j.GlobalBatch), ZeRO: []int{0, 1, 2, 3}, ShardGroup: []int{0},
		SP: []bool{true, false}, CPAllToAll: []bool{false, true}, Offload: []bool{false}, Schedules: FixedSchedules,
		Recompute: []plan.Recompute{plan.ReNone, plan.ReSelective, plan.ReSelective | plan.ReMoE, plan.ReFull},
		Overlap:   []plan.Overlap{DefaultOverlap},
	}
	if j.GPUs < j.NodeGPUs {
		s.TP = divisors(j.GPUs)
	}
	if moe := j.Model.FirstMoE(); moe != nil {
		s.EP, s.ETP = divisors(int(moe.Experts)), s.TP
	} else {
		s.Recompute = slices.DeleteFunc(s.Recompute, func(r plan.Recompute) bool { return r&plan.ReMoE != 0 })
	}
	if j.GPUs > j.NodeGPUs {
		s.ShardGroup = append(s.ShardGroup, j.NodeGPUs)
	}
	if !latent(j) {
		for i := range s.Recompute {
			s.Recompute[i] &^= plan.ReMLAUp
		}
	}
	s.Base.Precision = pr
	s.fix(f)
	return s
}

// leanest notes which states of the space need least memory.
func (s *Space) leanest() train.Lean {
	return train.Lean{ZeRO: slices.Max(s.ZeRO), Offload: slices.Contains(s.Offload, true)}
}

// latent tells whether any layer has MLA's up-projections to recompute.
func latent(j *plan.Job) bool {
	return slices.ContainsFunc(j.Distinct(), func(l *model.Layer) bool { return l.Attention.Kind == model.MLA })
}

// fix narrows the space to the keys that the user gave.
func (s *Space) fix(f *plan.Fixed) {
	if f == nil {
		return
	}
	p := &f.Plan
	one := func(k plan.Key, values *[]int, v int) {
		if f.Has(k) {
			*values = []int{v}
		}
	}
	one(plan.KeyTP, &s.TP, p.TP)
	one(plan.KeyCP, &s.CP, p.CP)
	one(plan.KeyPP, &s.PP, p.PP)
	one(plan.KeyEP, &s.EP, p.EP)
	one(plan.KeyETP, &s.ETP, p.ETP)
	one(plan.KeyVPP, &s.VPP, p.VPP)
	one(plan.KeyMBS, &s.MicroBatch, p.MicroBatch)
	one(plan.KeyZeRO, &s.ZeRO, p.ZeRO)
	one(plan.KeyShard, &s.ShardGroup, p.ShardGroup)
	if f.Plain && !f.Has(plan.KeyShard) {
		s.ShardGroup = []int{0}
	}
	if f.Has(plan.KeyDP) {
		s.DP = p.DP
	}
	flag := func(k plan.Key, values *[]bool, v bool) {
		if f.Has(k) {
			*values = []bool{v}
		}
	}
	flag(plan.KeySP, &s.SP, p.SP)
	flag(plan.KeyCPComm, &s.CPAllToAll, p.CPAllToAll)
	flag(plan.KeyOffload, &s.Offload, p.OffloadOptim)
	if f.Has(plan.KeySchedule) {
		s.Schedules = []sched.Kind{p.Schedule}
	}
	if f.Has(plan.KeyRecompute) {
		s.Recompute = []plan.Recompute{p.Recompute}
	}
	if f.Has(plan.KeyOverlap) {
		s.Overlap = []plan.Overlap{p.Overlap}
	}
	s.Base.Tuning, s.Base.LoRARank, s.Base.UnfusedAttn = p.Tuning, p.LoRARank, p.UnfusedAttn
	if s.Base.UnfusedAttn {
		s.Recompute = append(slices.Clone(s.Recompute), plan.ReAttention)
	}
}

// contexts are context-parallel degrees that leave a rank at least 1,024 tokens,
// below which the exchange of keys and values outweighs attention.
func contexts(j *plan.Job) []int {
	cps := []int{1}
	for cp := 2; cp <= j.GPUs && j.Seq/cp >= 1024; cp *= 2 {
		cps = append(cps, cp)
	}
	return cps
}

func divisors(n int) []int {
	var low, high []int
	for d := 1; d*d <= n; d++ {
		if n%d != 0 {
			continue
		}
		low = append(low, d)
		if d*d != n {
			high = append(high, n/d)
		}
	}
	slices.Reverse(high)
	return append(low, high...)
}

func upTo(n int) []int {
	v := make([]int, max(n, 1))
	for i := range v {
		v[i] = i + 1
	}
	return v
}
