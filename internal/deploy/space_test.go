package deploy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ridgeline/ridgeline/internal/plan"
)

func TestSpaceIsLegalAndWhole(t *testing.T) {
	for _, c := range []struct{ model, cluster string }{{"deepseek-r1", "h200x64"}, {"llama-3.1-70b", "h100x16"}, {"gpt-oss-120b", "b200x8"}, {"qwen3-235b-a22b", "h20x16"}} {
		q, v := ask(t, c.model, c.cluster, "", 1, 2, 1)
		s, err := NewSpace(q.Model, v.Cluster, int(v.Cluster.GPUs), nil)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[plan.Serving]bool{}
		for _, x := range s.Instances {
			if err := x.Check(q.Model, v.Cluster.GPUs); err != nil {
				t.Error(err)
			}
			if n, node := x.GPUs(), int(v.Cluster.Node.GPUs); n%node != 0 && node%n != 0 {
				t.Errorf("%s: %d GPUs neither share a node evenly nor fill nodes of %d", x.String(), n, node)
			}
			if seen[x] {
				t.Errorf("%s comes twice", x.String())
			}
			seen[x] = true
		}
	}
}

// A dense model on one node of two: tp, pp and dp of powers of two whose product
// is at most 2, without and with a shared cache where tp copies it.
func TestSmallSpaceByHand(t *testing.T) {
	q, v := ask(t, "llama-3.1-8b", "h100x2", "", 1, 2, 1)
	s, err := NewSpace(q.Model, v.Cluster, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range s.Instances {
		got = append(got, x.String())
	}
	want := []string{"tp=1", "tp=1,dp=2", "tp=1,pp=2", "tp=2"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestNamedKeysAreKept(t *testing.T) {
	for text, want := range map[string]int{"tp=16": 1, "tp=8,pp=2": 1, "tp=16,ep=16": 1, "tp=8": 3, "ep=16": 9} {
		q, v := ask(t, "deepseek-r1", "h20x16", text, 1, 2, 1)
		s, err := NewSpace(q.Model, v.Cluster, 16, q.Plan.Whole)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range s.Instances {
			f := q.Plan.Whole.Serving
			if q.Plan.Whole.Has(plan.KeyTP) && x.TP != f.TP || q.Plan.Whole.Has(plan.KeyEP) && x.EP != f.EP {
				t.Errorf("%s became %s", text, x.String())
			}
		}
		if len(s.Instances) != want {
			t.Errorf("%s leaves %d instances, want %d: %v", text, len(s.Instances), want, s.Instances)
		}
	}
}

func TestIllegalPlansNameTheMend(t *testing.T) {
	for text, want := range map[string]string{"tp=3": "does not divide", "tp=16": "needs 16 GPUs", "tp=8,ep=3": "use a divisor", "tp=8,replicas=2": "needs 16 GPUs",
		"prefill:tp=8;decode:tp=8": "needs 16 GPUs"} {
		q, v := ask(t, "deepseek-r1", "h200x8", text, 128, 128, 2)
		_, err := Run(t.Context(), q, v, nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Replicas share the requests evenly and stay inside the cluster.
func TestReplicas(t *testing.T) {
	x := &plan.Serving{TP: 8, PP: 1, DP: 1, EP: 1, DCP: 1, Replicas: 1}
	for _, c := range []struct {
		gpus, concurrency int
		want              []int
	}{{64, 16, []int{1, 2, 4, 8}}, {64, 2, []int{1, 2}}, {64, 6, []int{1, 2}}, {8, 16, []int{1}}, {24, 16, []int{1, 2}}} {
		if d := cmp.Diff(c.want, replicas(nil, x, c.gpus, c.concurrency)); d != "" {
			t.Errorf("%+v: %s", c, d)
		}
	}
}
