package advise

import (
	"context"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/train"
)

func question(t *testing.T, model, cluster string, batch, seq int, precision string) *Question {
	t.Helper()
	m, err := catalog.Model(model)
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Cluster(cluster)
	if err != nil {
		t.Fatal(err)
	}
	return &Question{Job: plan.NewJob(m, int(c.GPUs), int(c.Node.GPUs), batch, seq, 0), Cluster: c, Precision: plan.Precisions[precision]}
}

func best(t *testing.T, q *Question, text string) *train.Result {
	t.Helper()
	f, err := plan.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	asked, _ := q.Padded(f)
	out, err := asked.Best(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Plans) > 0 {
		return out.Plans[0]
	}
	if out.Nearest == nil {
		t.Fatalf("%s: %v", text, out.Illegal(asked.Job, f))
	}
	return out.Nearest
}

// At the value that Flip names the same model gives another bound, and just
// before it the old one.
func TestFlipFlips(t *testing.T) {
	q := question(t, "llama-3.1-70b", "h100x64", 128, 4096, "bf16")
	for _, text := range []string{"fsdp", "tp=8,pp=2,zero=1,recompute=none"} {
		r := best(t, q, text)
		flips, err := q.Flips(&r.Plan)
		if err != nil {
			t.Fatal(err)
		}
		if len(flips) != int(NumKnobs) {
			t.Fatalf("%s: %d knobs of %d", text, len(flips), NumKnobs)
		}
		for k, b := range flips {
			if b.Flip == 0 {
				continue
			}
			for _, x := range []struct {
				by   float64
				same bool
			}{{b.Flip / b.Now, false}, {1 + (b.Flip/b.Now-1)*0.99, true}} {
				turned := q.with(func(q *Question) { q.Cluster = Turn(q.Cluster, Knob(k), x.by) })
				e, err := turned.Evaluator()
				if err != nil {
					t.Fatal(err)
				}
				got, err := e.Evaluate(&r.Plan)
				if err != nil {
					t.Fatal(err)
				}
				if (got.Bound == b.Bound) != x.same {
					t.Errorf("%s, %s x %.4f: bound %s, was %s", text, b.What, x.by, got.Bound, b.Bound)
				}
			}
		}
	}
}

// Every family that has a plan is a member of itself, says why it is not the
// answer, and no named plan is faster than the best of the whole space.
func TestAlternatives(t *testing.T) {
	for _, j := range []struct{ model, cluster string }{{"llama-3.1-8b", "h100x16"}, {"mixtral-8x7b", "h100x16"}} {
		q := question(t, j.model, j.cluster, 64, 4096, "bf16")
		top := best(t, q, "")
		list, err := q.Alternatives(context.Background(), top, &plan.Fixed{})
		if err != nil || len(list) < 4 {
			t.Fatalf("%s: %d alternatives, %v", j.model, len(list), err)
		}
		for _, a := range list {
			if a.Reason == "" || strings.Contains(a.Reason, "\n") {
				t.Errorf("%s, %s: reason %q", j.model, a.Name, a.Reason)
			}
			if a.Plan == nil {
				continue
			}
			p := &a.Plan.Plan
			switch {
			case a.Name == PlainFSDP && (p.ZeRO != 3 || p.TP*p.PP*p.CP*p.EP != 1),
				strings.Contains(a.Name, "expert parallelism") && p.EP < 2,
				strings.HasPrefix(a.Name, "FSDP with tensor") && p.TP < 2,
				strings.Contains(a.Name, "pipeline between") && p.PP < 2:
				t.Errorf("%s: %s shows %s", j.model, a.Name, p)
			}
			if a.Plan.Fits && a.Plan.Step < top.Step*0.999 {
				t.Errorf("%s: %s takes %v, the best of all %v", j.model, a.Name, a.Plan.Step, top.Step)
			}
		}
	}
}

// Plain FSDP over ranks that do not divide the batch is evaluated with the
// ranks' rounded-up share and says so; every other question stays as it is.
func TestPadded(t *testing.T) {
	q := question(t, "llama-3.1-8b", "h100x16", 20, 4096, "bf16")
	for _, c := range []struct {
		text   string
		padded bool
	}{{"fsdp", true}, {"fsdp,mbs=1", true}, {"fsdp,mbs=2,dp=16,recompute=full", true}, {"fsdp,mbs=3", false}, {"fsdp,dp=8", false},
		{"zero=3", false}, {"zero=3,tp=1,mbs=1,dp=16", false}, {"", false}} {
		f, err := plan.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		asked, note := q.Padded(f)
		if got := asked.Job.GlobalBatch == 32 && asked.Job.Idle == 12 && strings.Contains(note.Text, "20 sequences"); got != c.padded {
			t.Errorf("%q: batch %d, idle %d, note %q", c.text, asked.Job.GlobalBatch, asked.Job.Idle, note)
		}
	}
}

// A precision that the device lacks is refused by name; the asked one is always
// among those compared, with its settings.
func TestPrecisionsOfADevice(t *testing.T) {
	q := question(t, "llama-3.1-8b", "h100x8", 64, 4096, "mxfp8")
	if _, err := q.Evaluator(); err == nil || !strings.Contains(err.Error(), "block-scaled") || !strings.HasSuffix(err.Error(), "use one of bf16, fp16, fp8, fp8-tensor") {
		t.Errorf("mxfp8 on Hopper: %v", err)
	}
	pr, err := plan.ParsePrecision("bf16,moment=bf16")
	if err != nil {
		t.Fatal(err)
	}
	q.Precision = pr
	r := best(t, q, "fsdp")
	list, err := q.Compare(&r.Plan)
	if err != nil || len(list) == 0 || list[0].Precision != "bf16,moment=bf16" {
		t.Fatalf("%v, %v", list, err)
	}
	for _, p := range list {
		if p.Precision == "mxfp8" || p.Precision == "nvfp4" {
			t.Errorf("%s on Hopper", p.Precision)
		}
	}
}
