package search

import (
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
)

// A space of one plan is evaluated as it is: the answer is that of the walk, whose
// plan has one more value in a dimension that changes nothing.
func TestOnlyPlan(t *testing.T) {
	for _, j := range jobs {
		e, s := prepare(t, j.model, j.cluster, j.batch, j.seq, j.precision, j.text)
		for i, want := range run(t, e, s, Options{Top: 8}).Plans {
			p := &want.Plan
			one := &Space{TP: []int{p.TP}, CP: []int{p.CP}, PP: []int{p.PP}, DP: p.DP, EP: []int{p.EP}, ETP: []int{p.ETP}, VPP: []int{p.VPP}, MicroBatch: []int{p.MicroBatch},
				ZeRO: []int{p.ZeRO}, ShardGroup: []int{p.ShardGroup}, SP: []bool{p.SP}, CPAllToAll: []bool{p.CPAllToAll}, Offload: []bool{p.OffloadOptim},
				Schedules: []sched.Kind{p.Schedule}, Recompute: []plan.Recompute{p.Recompute}, Overlap: []plan.Overlap{p.Overlap}, Base: s.Base}
			if q, ok := one.only(e.Job()); !ok || *q != *p {
				t.Fatalf("%s %d: %v is not the only plan: %v", j.model, i, p, q)
			}
			two := *one
			two.Recompute = []plan.Recompute{p.Recompute, p.Recompute}
			if _, ok := two.only(e.Job()); ok {
				t.Fatal("two states are taken for one plan")
			}
			got, walked := run(t, e, one, Options{}), run(t, e, &two, Options{Top: 1})
			if len(got.Plans) != 1 || got.Plans[0].Step != want.Step || got.Plans[0].Plan != walked.Plans[0].Plan || walked.Plans[0].Step != want.Step {
				t.Errorf("%s: %v takes %v, alone %v", j.model, p, want.Step, got.Plans)
			}
		}
	}
	e, s := prepare(t, "llama-3.1-405b", "h100x8", 8, 4096, "bf16", "tp=8,pp=1,cp=1,ep=1,etp=1,vpp=1,dp=1,mbs=1,zero=0,shard=0,schedule=1f1b,recompute=full,sp=1,cpcomm=ring,overlap=all,offload=none")
	if _, ok := s.only(e.Job()); !ok {
		t.Fatal("a plan with every key is not the only one")
	}
	if out := run(t, e, s, Options{}); len(out.Plans) != 0 || out.Nearest == nil || out.Count.TooLarge != 1 {
		t.Errorf("a plan that does not fit: %+v", out)
	}
	e, s = prepare(t, "llama-3.1-8b", "h100x8", 9, 4096, "bf16", "tp=1,pp=1,cp=1,ep=1,etp=1,vpp=1,dp=8,mbs=1,zero=0,shard=0,schedule=1f1b,recompute=full,sp=0,cpcomm=ring,overlap=all,offload=none")
	if out := run(t, e, s, Options{}); len(out.Plans) != 0 || out.Illegal(e.Job(), nil) == nil {
		t.Errorf("a batch that does not divide: %+v", out)
	}
}

// The reason told is one that the user's own keys explain: a vpp that only the search tried is none.
func TestIllegalBlamesWhatWasGiven(t *testing.T) {
	const text = "pp=2,dp=8,mbs=1"
	e, s := prepare(t, "llama-3.1-8b", "h100x16", 8_000_000, 4096, "bf16", text)
	f, err := plan.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	out := run(t, e, s, Options{})
	if len(out.Plans) != 0 || out.Examples[plan.BadLayers] == nil {
		t.Fatalf("%+v: the case has no vpp that is too large", out)
	}
	if err := out.Illegal(e.Job(), f); err == nil || !strings.Contains(err.Error(), "too many passes") {
		t.Error(err)
	}
}
