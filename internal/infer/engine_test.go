package infer_test

import (
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// setup is a catalogue model in its published formats on a catalogue cluster.
func setup(t testing.TB, name, cluster string, p plan.Serving) *infer.Setup {
	t.Helper()
	m, err := catalog.Model(name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Cluster(cluster)
	if err != nil {
		t.Fatal(err)
	}
	w, x, kv := infer.CheckpointFormats(m)
	return &infer.Setup{Model: m, Cluster: c, Plan: p, Weights: w, Experts: x, KV: kv}
}

func mustEngine(t testing.TB, name, cluster string, p plan.Serving, change func(*infer.Setup)) *infer.Engine {
	t.Helper()
	s := setup(t, name, cluster, p)
	if change != nil {
		change(s)
	}
	e, err := infer.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
