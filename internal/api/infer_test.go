package api

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// service is a question about DeepSeek-R1 on 8 H200.
func service(t *testing.T, fixed string, concurrency ...int) *InferRequest {
	t.Helper()
	m, err := catalog.Model("deepseek-r1")
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Cluster("h200x8")
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.ParseServing(fixed)
	if err != nil {
		t.Fatal(err)
	}
	return &InferRequest{Model: m, Clusters: []*hw.Cluster{c}, Plan: p, ISL: 1024, OSL: 1024, Concurrency: concurrency}
}

func answerOf(t *testing.T, r *InferRequest) *InferAnswer {
	t.Helper()
	a, err := Infer(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The exchange of a stage whose ranks share a node stays on NVLink, however many
// nodes the instance has; a group of more ranks than a node has GPUs takes the NIC.
func TestExchangeTakesTheLinkOfItsGroup(t *testing.T) {
	c, err := catalog.Cluster("h200x64")
	if err != nil {
		t.Fatal(err)
	}
	for fixed, want := range map[string]float64{"pp=2,dp=8,ep=8": c.Device.Peak.ScaleUp.Value, "dp=16,ep=16": c.Node.NIC.Value} {
		r := service(t, fixed, 64)
		r.Clusters = []*hw.Cluster{c}
		a := answerOf(t, r)
		if len(a.Ceilings) == 0 || float64(a.Ceilings[0].Rate) != want {
			t.Errorf("%s: exchange ceilings %+v, want a link of %g B/s", fixed, a.Ceilings, want)
		}
	}
}

// Fact I3: throughput grows with concurrency while memory-bound, and the batch at
// which each part turns compute-bound is known (mission notes, I3).
func TestThroughputGrowsWhileMemoryBound(t *testing.T) {
	a := answerOf(t, service(t, "tp=8", 1, 2, 4, 8, 16, 32, 64, 128))
	points := a.Best.Points
	for i := 1; i < len(points); i++ {
		if points[i].Output <= points[i-1].Output || points[i].TPOT < points[i-1].TPOT {
			t.Errorf("%d in flight: %.0f tokens/s at %g s per token, before %.0f at %g", points[i].Concurrency, points[i].Output,
				float64(points[i].TPOT), points[i-1].Output, float64(points[i-1].TPOT))
		}
	}
	at := map[infer.Part]int64{}
	for _, f := range a.Flips {
		at[f.Part] = f.Batch
	}
	if e := at[infer.Experts]; at[infer.Dense] == 0 || e > 0 && e <= at[infer.Dense] { // 0: at no batch looked at
		t.Errorf("dense from %d, experts from %d: each of 256 experts sees 1 token in 32, so they must flip later", at[infer.Dense], at[infer.Experts])
	}
}

// The lists multiply in the order in which they are documented.
func TestListsMultiply(t *testing.T) {
	r := service(t, "tp=8", 1)
	for _, text := range []string{"none", "mtp:1:0.87"} {
		s, err := infer.ParseSpeculation(text)
		if err != nil {
			t.Fatal(err)
		}
		r.Speculation = append(r.Speculation, s)
	}
	r.KV = []unit.Format{unit.BF16, unit.FP8}
	r.RTT = []unit.Seconds{1e-3, 2e-3}
	if _, err := r.variants(); err == nil || !strings.Contains(err.Error(), "is one node") {
		t.Errorf("round trips between the nodes of one: %v", err)
	}
	r.Clusters[0].GPUs *= 2
	list, err := r.variants()
	if err != nil || len(list) != 8 {
		t.Fatalf("%d variants, %v", len(list), err)
	}
	if a, b := list[0], list[7]; a.KV != unit.BF16 || a.Speculation.Drafts != 0 || *a.RTT != 1e-3 || b.KV != unit.FP8 || b.Speculation.Drafts != 1 || *b.RTT != 2e-3 {
		t.Errorf("first %+v, last %+v", a, b)
	}
	if list[0].Weights != unit.FP8Block || list[0].Experts != unit.FP8Block {
		t.Errorf("weights %s, experts %s: the checkpoint's are fp8-block", list[0].Weights, list[0].Experts)
	}
	for range 6 {
		r.RTT = append(r.RTT, r.RTT...)
	}
	if _, err := r.variants(); err == nil {
		t.Error("512 variants were taken")
	}
}

// A draft model drafts words of its own vocabulary: one of another family is refused, one
// padded to other rows is not.
func TestDraftModelsVocabulary(t *testing.T) {
	r := service(t, "tp=8", 1)
	of := func(words int64) error {
		r.Speculation = []*infer.Speculation{{Drafter: infer.DraftModel, Model: "small", Drafts: 1, Accept: []float64{0.7}}}
		r.DraftModels = map[string]*model.Model{"small": {Name: "small", Vocab: words}}
		_, err := r.variants()
		return err
	}
	if err := of(128256); err == nil || !strings.Contains(err.Error(), "vocabulary has 128256 words, that of deepseek-r1 129280") {
		t.Errorf("%v", err)
	}
	if err := of(129280 - 128); err != nil {
		t.Error(err)
	}
}

// fp8 of a checkpoint with block scales is loaded with them.
func TestFP8KeepsBlockScales(t *testing.T) {
	r := service(t, "tp=8", 1)
	r.Weights = []unit.Format{unit.FP8}
	if w := r.weights(); w[0] != [2]unit.Format{unit.FP8Block, unit.FP8Block} {
		t.Error(w)
	}
	r.Experts = []unit.Format{unit.NVFP4}
	if w := r.weights(); w[0] != [2]unit.Format{unit.FP8Block, unit.NVFP4} {
		t.Error(w)
	}
}

func TestBadServicesAreRefused(t *testing.T) {
	for want, change := range map[string]func(*InferRequest){
		"--isl":             func(r *InferRequest) { r.ISL = 0 },
		"--osl":             func(r *InferRequest) { r.OSL = 1 },
		"tokens of context": func(r *InferRequest) { r.ISL = 1 << 20 },
		"--memory-limit":    func(r *InferRequest) { r.MemoryLimit = 1.5 },
		"--skew":            func(r *InferRequest) { r.Skew = -1 },
		"--batch-tokens":    func(r *InferRequest) { r.Chunk = -1 },
		"one of each": func(r *InferRequest) {
			r.Measured = make([]infer.Measured, 1)
			r.KV = []unit.Format{unit.BF16, unit.FP8}
		},
		"--max-sequences -1": func(r *InferRequest) { r.Slots = -1 },
	} {
		r := service(t, "tp=8", 1)
		change(r)
		if _, err := Infer(context.Background(), r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Each strategy differs from the best in one thing, on as many GPUs.
func TestStrategiesKeepTheGPUs(t *testing.T) {
	a := answerOf(t, service(t, "tp=8", 64))
	if len(a.Strategies) < 4 {
		t.Errorf("%d strategies", len(a.Strategies))
	}
	for _, s := range a.Strategies {
		if s.Point != nil && (s.Point.Layout.GPUs() != a.Best.Best.Layout.GPUs() || s.Point.Concurrency != 64) {
			t.Errorf("%s: %s with %d in flight", s.Name, s.Point, s.Point.Concurrency)
		}
	}
}

// Fact I6: 8 x H200, one node, with and without MTP: throughput, TTFT and TPOT at 1 to
// 128 requests in flight (ZStack part 4, whose figures are not published). More requests
// make more tokens and each waits longer; MTP brings each its tokens faster and its
// first one later.
func TestOneNodeI6(t *testing.T) {
	r := service(t, "tp=8", 1, 2, 4, 8, 16, 32, 64, 128)
	for _, text := range []string{"none", "mtp:1:0.87"} {
		s, err := infer.ParseSpeculation(text)
		if err != nil {
			t.Fatal(err)
		}
		r.Speculation = append(r.Speculation, s)
	}
	a := answerOf(t, r)
	if len(a.Outcomes) != 2 || len(a.Outcomes[0].Points) != 8 || len(a.Outcomes[1].Points) != 8 {
		t.Fatalf("%d outcomes", len(a.Outcomes))
	}
	for k, o := range a.Outcomes {
		for i, p := range o.Points {
			if p.Concurrency != 1<<i || !p.Fits || p.Layout.TP != 8 {
				t.Errorf("point %d is %s at %d", i, p, p.Concurrency)
			}
			if i == 0 {
				continue
			}
			if b := o.Points[i-1]; p.Output <= b.Output || p.TPOT < b.TPOT || p.TTFT < b.TTFT {
				t.Errorf("%d requests: %g tokens/s, TPOT %g, TTFT %g after %g, %g, %g", p.Concurrency, p.Output, float64(p.TPOT), float64(p.TTFT), b.Output, float64(b.TPOT), float64(b.TTFT))
			}
		}
		for i, p := range o.Points {
			if q := a.Outcomes[0].Points[i]; k == 1 && (p.TPOT >= q.TPOT || p.TTFT < q.TTFT || p.TTFT > 2*q.TTFT) {
				t.Errorf("%d requests with MTP: TPOT %g, TTFT %g, without %g, %g", p.Concurrency, float64(p.TPOT), float64(p.TTFT), float64(q.TPOT), float64(q.TTFT))
			}
		}
	}
}

// Fact I11: the sensitivity of any plan that crosses nodes to added network latency is
// part of its answer: it begins with the fabric's own round trip, each token waits half
// of one per exchange, and what waits on the wire grows.
func TestLatencyCurveI11(t *testing.T) {
	r := service(t, "tp=16", 1)
	r.Clusters[0].GPUs *= 2
	a := answerOf(t, r)
	if len(a.Latency) != len(addedRTT) {
		t.Fatalf("%d points", len(a.Latency))
	}
	for i, x := range a.Latency[1:] {
		b := a.Latency[i]
		rise := float64(x.Point.TPOT-b.Point.TPOT) / float64((x.RTT-b.RTT)/2)
		if math.Abs(rise/122-1) > 0.05 || x.Point.Wire <= b.Point.Wire || x.Change >= b.Change {
			t.Errorf("from %g to %g s a token waits %.0f half round trips more, want 122 (modelling notes, section 4); %.2f of it on the wire", float64(b.RTT), float64(x.RTT), rise, x.Point.Wire)
		}
	}
	if inside := answerOf(t, service(t, "tp=8", 1)); len(inside.Latency) > 0 {
		t.Error("a plan inside one node has a latency curve")
	}
}

// A cluster of one node has no round trip between nodes: beside others it stands once.
func TestOneNodeHasNoRoundTrip(t *testing.T) {
	r := service(t, "tp=8", 8)
	two, err := catalog.Cluster("h200x16")
	if err != nil {
		t.Fatal(err)
	}
	r.Clusters, r.RTT = append(r.Clusters, two), []unit.Seconds{1e-3, 2e-3}
	var got []string
	for _, o := range answerOf(t, r).Outcomes {
		rtt := "none"
		if o.Variant.RTT != nil {
			rtt = unit.FormatSeconds(*o.Variant.RTT)
		}
		got = append(got, o.Variant.Cluster.Name+" "+rtt)
	}
	if d := cmp.Diff([]string{"h200x8 none", "h200x16 1.000 ms", "h200x16 2.000 ms"}, got); d != "" {
		t.Error(d)
	}
}
