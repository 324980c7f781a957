package infer_test

import (
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// A draft model drafts on the target's ranks; what cannot draft says why.
func TestNewSpeculative(t *testing.T) {
	target, err := catalog.Model("llama-3.1-70b")
	if err != nil {
		t.Fatal(err)
	}
	small, err := catalog.Model("llama-3.1-8b")
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Cluster("h100x8")
	if err != nil {
		t.Fatal(err)
	}
	w, x, kv := infer.CheckpointFormats(target)
	e, err := infer.New(&infer.Setup{Model: target, Cluster: c, Plan: plan.Serving{TP: 8}, Weights: w, Experts: x, KV: kv})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := infer.ParseSpeculation("draft:llama-3.1-8b:3:0.8")
	if err != nil {
		t.Fatal(err)
	}
	s, err := infer.NewSpeculative(e, spec, small)
	if err != nil {
		t.Fatal(err)
	}
	curve := infer.SpecCurve(s, 1000, []int{1, 16, 256})
	if v := infer.Verdict(curve); v.Best.Batch > 16 || v.Best.Speedup < 1.2 || curve[2].Speedup > v.Best.Speedup {
		t.Errorf("best %+v, at 256 %.2f", v.Best, curve[2].Speedup)
	}
	for _, bad := range []struct {
		spec infer.Speculation
		says string
	}{
		{*spec, "draft model was not found"},
		{infer.Speculation{Drafter: infer.MTP, Drafts: 1, Accept: []float64{0.8}}, "has no MTP module"},
		{infer.Speculation{Drafter: infer.MTP, Drafts: 1, Accept: []float64{1.8}}, "fraction from 0 to 1"},
	} {
		if _, err := infer.NewSpeculative(e, &bad.spec, nil); err == nil || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("error %v, want %q", err, bad.says)
		}
	}
	if none, err := infer.NewSpeculative(e, &infer.Speculation{}, nil); err != nil || none.Step(&infer.Batch{Decode: 1}) != e.Step(&infer.Batch{Decode: 1}) {
		t.Errorf("drafting nothing changes the step: %v", err)
	}
}

// Fact I9's units side by side: the KV cache of a prompt crosses the network in a
// few per cent of its time to first token, and no ratio of workers beats the rate
// match.
func TestDisaggregatedUnits(t *testing.T) {
	prefill, decode := units(t)
	p, d := prefill.Inner.(*infer.Engine), decode.Inner.(*infer.Engine)
	link, err := d.KVLink(&p.Setup().Plan)
	if err != nil {
		t.Fatal(err)
	}
	perToken := p.Setup().Model.KVBytesPerToken(p.Setup().KV, 0)
	_, transfer, _ := link.Transfer(infer.CacheSize(4096, perToken))
	g := &infer.Disagg{Prefill: prefill, Decode: decode, PrefillGPUs: 32, DecodeGPUs: 144, ISL: 4096, OSL: 1024,
		PrefillTokens: 4 * 4096 * 32, MaxDecode: int(d.KVTokens() / (4096 + 1024)), Transfer: transfer, TransferGPUs: link.GPUs}
	best := g.Point(8, 2, 2*g.MaxDecode)
	if best.Transfer > best.TTFT/10 || best.TokensPerGPU > 1.001*g.Match(best.Sequences).TokensPerGPU {
		t.Errorf("%+v", best)
	}
}
