package serve

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// question is a closed loop on one engine.
type question struct {
	model, cluster, engine string
	plan                   plan.Serving
	isl, osl, users        int
	equal, two             bool
	spec                   string
}

func (q *question) String() string {
	s := fmt.Sprintf("%s on %s of %s, %s, %d/%d", q.model, q.engine, q.cluster, q.plan.String(), q.isl, q.osl)
	if !q.equal {
		s += "+-20%"
	}
	if q.two {
		s += ", two-batch"
	}
	if q.spec != "none" {
		s += ", " + q.spec
	}
	return s + fmt.Sprintf(", %d users", q.users)
}

// oneOf draws one of them.
func oneOf[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// drawn draws a question.
func drawn(r *rand.Rand) *question {
	place := func(tp, pp, dp, ep int) plan.Serving {
		return plan.Serving{TP: tp, PP: pp, DP: dp, EP: ep, DCP: 1, Replicas: 1}
	}
	type home struct {
		model, cluster string
		plan           plan.Serving
	}
	h := oneOf(r,
		home{"llama-3.1-8b", "h100x1", place(1, 1, 1, 1)}, home{"llama-3.1-8b", "b200x4", place(4, 1, 1, 1)},
		home{"qwen3-32b", "h100x2", place(2, 1, 1, 1)}, home{"qwen3-32b", "a100-80gbx4", place(2, 2, 1, 1)},
		home{"llama-3.1-70b", "h100x4", place(4, 1, 1, 1)}, home{"llama-3.1-70b", "h100x8", place(2, 4, 1, 1)},
		home{"gpt-oss-120b", "h200x2", place(2, 1, 1, 1)}, home{"gpt-oss-120b", "b200x8", place(1, 1, 8, 8)},
		home{"deepseek-r1", "h200x8", place(8, 1, 1, 1)}, home{"deepseek-r1", "h200x8", place(1, 1, 8, 8)}, home{"deepseek-r1", "b200x8", place(8, 1, 1, 1)},
		home{"deepseek-r1", "h200x8", place(4, 2, 1, 1)}, home{"deepseek-r1", "h200x16", place(4, 4, 1, 1)}, home{"deepseek-r1", "h200x8", place(4, 1, 2, 8)},
		home{"deepseek-r1", "h20x16", place(16, 1, 1, 1)}, home{"deepseek-r1", "h800x32", place(1, 1, 32, 32)})
	q := &question{model: h.model, cluster: h.cluster, plan: h.plan, engine: oneOf(r, "vllm", "sglang", "trtllm"), spec: "none",
		isl: int(math.Exp(math.Log(128) + r.Float64()*math.Log(128))), osl: int(math.Exp(math.Log(64) + r.Float64()*math.Log(32))),
		users: 1 << r.IntN(9), equal: r.IntN(2) == 0}
	q.two = h.plan.EP > 1 && r.IntN(2) == 0
	if r.IntN(3) == 0 {
		switch {
		case h.model == "deepseek-r1":
			q.spec = oneOf(r, "mtp:1", "mtp:3", "mtp:1:1")
		case h.model == "llama-3.1-70b" && h.plan.PP == 1:
			q.spec = oneOf(r, "draft:llama-3.2-1b:3:0.7", "draft:llama-3.2-1b:1:0.7")
		case h.model == "llama-3.1-8b":
			q.spec = oneOf(r, "draft:llama-3.2-1b:3:0.7", "draft:llama-3.2-1b:1:0.7")
		}
	}
	return q
}

// ask answers the question by the closed form, nil where it is refused, and where that trusts itself by simulation.
func (q *question) ask(t testing.TB) (*infer.Point, *Summary) {
	s, e, l := q.build(t)
	p, err := infer.Steady(e, l)
	if err != nil {
		return nil, nil
	}
	if !p.Agrees() {
		return &p, nil
	}
	n := max(12*q.users, 160)
	w := closed(t, q.isl, q.osl, q.users, n)
	if q.equal {
		w = alike(t, s, q.isl, q.osl, q.users, n)
	} else if w.Ramp, err = Ramp(context.Background(), s, w, 1); err != nil {
		t.Fatal(err)
	}
	return &p, run(t, s, w, Options{Seed: 1}).Mean()
}

// build is the question's service, engine and load.
func (q *question) build(t testing.TB) (*Service, *infer.Engine, *infer.Load) {
	m, err := catalog.Model(q.model)
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Cluster(q.cluster)
	if err != nil {
		t.Fatal(err)
	}
	weights, experts, kv := infer.CheckpointFormats(m)
	spec, err := infer.ParseSpeculation(q.spec)
	if err != nil {
		t.Fatal(err)
	}
	setup := &infer.Setup{Model: m, Cluster: c, Plan: q.plan, Weights: weights, Experts: experts, KV: kv, Context: int64(q.isl + q.osl)}
	if setup.Profile, err = infer.FindProfile(q.engine, c.Device.Arch); err != nil {
		t.Fatal(err)
	}
	if spec.Drafter == infer.MTP {
		setup.MTP = 1
	}
	e, err := infer.New(setup)
	if err != nil {
		t.Fatalf("%v: %v", q, err)
	}
	var st infer.Stepper = e
	if q.two {
		st = &infer.TwoBatch{Inner: e, Layers: len(m.Layers), Replicas: q.plan.DP, SMShare: 20 / 132.0}
	}
	s := service(t, e)
	l := &infer.Load{ISL: int64(q.isl), OSL: int64(q.osl), Concurrency: int64(q.users), Fixed: q.equal}
	if !q.equal {
		l.Spread = 0.2 / math.Sqrt(3)
	}
	if spec.Drafts > 0 {
		var draft = m
		if spec.Model != "" {
			if draft, err = catalog.Model(spec.Model); err != nil {
				t.Fatal(err)
			}
		}
		d, err := infer.NewSpeculative(e, spec, draft)
		if err != nil {
			t.Fatalf("%v: %v", q, err)
		}
		d.Target = st
		st = d
		s.Engine.Speculation, l.Spec = spec, spec
		s.Engine.MaxSeqs = min(s.Engine.MaxSeqs, s.Engine.MaxTokens/(1+spec.Drafts))
	}
	s.Engine.Stepper, l.Stepper = st, st
	return s, e, l
}

// Wherever the closed form says that percentiles hold, it agrees with a simulation of the same users: 10 % in
// time per token and tokens/s, 25 % in the time to the first token, over models, GPUs, engines, layouts,
// lengths, numbers of users and drafters drawn at random, with at least 12 rounds and 160 requests, whose ways
// to the queue are drawn. It says so of most of the loads that leave room.
func TestTheClosedFormSaysWhereItHolds(t *testing.T) {
	const tokens, first, most = 0.10, 0.25, 0.6
	cases := 250
	if testing.Short() {
		cases = 40
	}
	r := rand.New(rand.NewPCG(3, 2))
	room, sure := 0, 0
	for range cases {
		q := drawn(r)
		p, m := q.ask(t)
		if p != nil && p.Valid() {
			room++
		}
		if m == nil {
			continue
		}
		sure++
		for what, v := range map[string][3]float64{"tpot": {float64(p.TPOT), m.TPOT.Mean, tokens}, "output": {p.Output, m.OutputRate, tokens}, "ttft": {float64(p.Steady), m.TTFT.Mean, first}} {
			if gap := v[0]/v[1] - 1; math.Abs(gap) > v[2] {
				t.Errorf("%v: %s %.4g, simulated %.4g (%+.1f %%)", q, what, v[0], v[1], 100*gap)
			}
		}
	}
	if t.Logf("%d of %d loads have room, %d agree", room, cases, sure); float64(sure) < most*float64(room) {
		t.Errorf("the closed form trusts %d of %d loads with room", sure, room)
	}
}
