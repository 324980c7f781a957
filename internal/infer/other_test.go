package infer

import (
	"slices"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// An engine that nobody ran is predicted where it is named as such: assumed, said, within the ranges of
// ground that no run covers. A name that is not known stays an error, which tells of that way.
func TestAnotherEngine(t *testing.T) {
	m, err := catalog.Model("llama-3.1-70b")
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Cluster("h100x8")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	ranges := map[string]*Ranges{}
	for _, name := range []string{"vllm", OtherEngine} {
		p, err := ProfileOn(name, c.Device)
		if err != nil {
			t.Fatal(err)
		}
		e, err := New(&Setup{Model: m, Cluster: c, Plan: plan.Serving{TP: 8}, Profile: p, Weights: unit.FP8, KV: unit.FP8})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range e.Assumptions() {
			said[name] = said[name] || n.Code == note.EngineAssumed
		}
		if ranges[name] = e.Ranges(); (p.Grade == hw.Assumed) != (name == OtherEngine) {
			t.Errorf("%s is %s", name, p.Grade)
		}
	}
	if said["vllm"] || !said[OtherEngine] {
		t.Errorf("said to be assumed: %v", said)
	}
	if a, b := ranges["vllm"].TPOT, ranges[OtherEngine].TPOT; !(b.High/b.Low > a.High/a.Low) {
		t.Errorf("ranges: %+v of vllm, %+v of another engine", a, b)
	}
	if _, err := ProfileOn("vlm", c.Device); err == nil || !strings.Contains(err.Error(), "llamacpp, other") {
		t.Errorf("an unknown name: %v", err)
	}
	if names := ProfiledEngines(); !slices.Contains(names, "vllm") || slices.Contains(names, OtherEngine) {
		t.Errorf("engines with profiles: %v", names)
	}
}
