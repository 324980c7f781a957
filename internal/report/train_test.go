package report

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ridgeline/ridgeline/internal/advise"
	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/mem"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/search"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// request is a job of a catalogue model on a catalogue cluster.
func request(t *testing.T, name, cluster, precision, fixed string, batch, seq int) *api.TrainRequest {
	t.Helper()
	m, err := catalog.Model(name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Cluster(cluster)
	if err != nil {
		t.Fatal(err)
	}
	f, err := plan.Parse(fixed)
	if err != nil {
		t.Fatal(err)
	}
	return &api.TrainRequest{Model: m, Cluster: c, Fixed: f, GlobalBatch: batch, Seq: seq, Precision: plan.Precisions[precision]}
}

// result is a plan on 2,048 GPUs with round figures: 20 s of which 15 s are kernels.
func result() *train.Result {
	r := &train.Result{
		Plan: plan.Plan{TP: 1, CP: 1, PP: 16, DP: 128, VPP: 1, EP: 64, ETP: 1, ZeRO: 1, MicroBatch: 1, Schedule: sched.DualPipe,
			Recompute: plan.ReSelective, Overlap: search.DefaultOverlap},
		Fits: true, Limit: 75.2e9, Lower: 10, Step: 20, Upper: 40, MicroBatches: 120, Tokens: 62.9e6, FLOPsPerToken: 250e9,
		HardwareFLOPs: 10e15, Peak: 989e12, Bound: train.BoundCompute,
		Ceilings: train.Ceilings{Compute: 8, HBM: 3, NVLink: 4, Network: 6},
		Anatomy:  train.Anatomy{Forward: 1, Backward: 2, Weight: 0.5, Pairs: 14, Bubble: 2, Optimizer: 0.5},
	}
	r.Memory[mem.Weights], r.Memory[mem.Activations] = 10e9, 50e9
	r.Waits[train.WaitEP], r.Waits[train.WaitBubble], r.Waits[train.WaitOptimizer] = 2.5, 2, 0.5
	return r
}

// fsdp is a plan that links bind and that does not fit.
func fsdp() *train.Result {
	r := result()
	r.Plan.PP, r.Plan.DP, r.Plan.EP, r.Plan.ZeRO, r.Plan.Recompute = 1, 2048, 1, 3, plan.ReFull
	r.Fits, r.Step, r.Upper, r.Lower, r.MicroBatches = false, 180, 400, 176, 8
	r.Memory[mem.Gathered] = 69e9
	r.Bound, r.Link = train.BoundNVLink, "nvlink of h800-sxm, 160 GB/s per GPU and direction"
	r.Ceilings = train.Ceilings{Compute: 9, HBM: 24, NVLink: 176, Network: 80}
	r.Waits = [train.NumWaits]unit.Seconds{train.WaitDP: 137}
	return r
}

// answer is an answer with every section.
func answer(t *testing.T) *api.TrainAnswer {
	t.Helper()
	r, f := result(), fsdp()
	tight := result()
	tight.Step, tight.Bound = 22, train.BoundNetwork
	a := &api.TrainAnswer{
		Request: request(t, "deepseek-v3", "h800x2048", "fp8", "", 15360, 4096), Best: r, Plans: []*train.Result{r, tight},
		Outcome: &search.Outcome{Plans: []*train.Result{r, tight}, Count: search.Count{TooLarge: 12345, Pruned: 8_000_000, LaidOut: 86}},
		Alternatives: []advise.Alternative{
			{Name: advise.PlainFSDP, Plan: f, Reason: advise.Reason(f, r)},
			{Name: "even", Plan: result()},
			{Name: "none", Reason: "global batch 15360 does not divide over dp=2048 x mbs=1: use a multiple of 2048 or another dp"},
		},
		Precisions: []advise.ByPrecision{{Precision: "bf16", Result: r, Ratio: 0.7}, {Precision: "fp8", Result: tight, Ratio: 1.2}},
		BreakEvens: []advise.BreakEven{{What: "network", Now: 50e9, Flip: 37.5e9, Unit: "B/s", Bound: train.BoundCompute, Next: train.BoundNetwork},
			{What: "memory bandwidth", Now: 3e12, Unit: "B/s", Bound: train.BoundCompute}},
		FSDP: f, FSDPSharding: []train.Algorithm{{Name: "hierarchical", NVLink: 22, Network: 10}, {Name: "flat ring", NVLink: 25, Network: 80}},
		FSDPEvens: []advise.BreakEven{{What: "network", Now: 50e9, Flip: 23e9, Unit: "B/s", Bound: train.BoundNVLink, Next: train.BoundNetwork},
			{What: "scale-up link", Now: 160e9, Flip: 350e9, Unit: "B/s", Bound: train.BoundNVLink, Next: train.BoundNetwork},
			{What: "tokens per GPU and step, gathered once", Now: 30720, Flip: 81920, Unit: "tokens", Next: train.BoundCompute,
				Note: "that is 20 sequences in one micro-batch, 73.40 GB of activations"}},
		Published: catalog.FindPublished("deepseek-v3", "h800-sxm", 2048, 15360, 4096),
		Warnings:  note.List{{Text: "a warning"}}, Assumptions: note.List{{Text: "an assumption that is long enough to need more than one line of a page of a hundred columns, as some are"}},
		Elapsed: 2 * time.Second,
	}
	a.Outcome.Count.Illegal[plan.BadBatch] = 1984
	a.Outcome.Count.Illegal[plan.BadSchedule] = 349988
	a.Request.Terms = train.Terms{Tokens: 14.8e12, Price: 2, PowerPerGPU: 700, GPUMTBF: 50000 * 3600, Checkpoint: 60, Restart: 600, StepOverride: 19.93}
	var err error
	if a.Budget, err = r.Budget(a.Request.Terms); err != nil {
		t.Fatal(err)
	}
	return a
}

// fits fails where a line is wider than the page.
func fits(t *testing.T, text string, width int) {
	t.Helper()
	for _, line := range strings.Split(text, "\n") {
		if n := utf8.RuneCountInString(line); n > width {
			t.Errorf("%d columns of %d: %s", n, width, line)
		}
		if strings.HasSuffix(line, " ") {
			t.Errorf("line ends in a space: %q", line)
		}
	}
}

// wants fails for every text that the page lacks, line breaks aside.
func wants(t *testing.T, page string, texts ...string) {
	t.Helper()
	flat := strings.Join(strings.Fields(page), " ")
	for _, s := range texts {
		if !strings.Contains(flat, strings.Join(strings.Fields(s), " ")) {
			t.Errorf("the page lacks %q:\n%s", s, page)
		}
	}
}

func TestTrainPageHasEverySection(t *testing.T) {
	a := answer(t)
	got := page(t, 100, func(p *Page) { Train(p, a) })
	fits(t, got, 100)
	wants(t, got,
		"15,360 sequences x 4,096 tokens = 62.91 M tokens per step",
		"8,012,431 legal plans: 12,345 too large for memory, 8,000,000 proved slower by a bound, 86 laid out in time, 351,972 more not legal",
		"A step takes 20.00 s. It is compute-bound: the matrix units alone need 8.000 s",
		"20.00 s; at least 10.00 s (all overlapped), at most 40.00 s (nothing overlapped)",
		"kernels 15.00 s 75.0 %", "wait: expert parallel 2.500 s 12.5 %",
		"The next bound is network, at 75.0 % of compute. Communication : compute = 0.75 : 1",
		"overlapped pairs (FB) 14.00 s 13.95 s +0.4 %", "Published in arXiv:2505.09343",
		"all 60.00 GB 79.8 %", "Usable: 75.20 GB, 94.0 % of the device's 80.00 GB; 15.20 GB stay free.",
		"The best 2 plans", "plain FSDP does not fit", "none no legal plan: global batch 15360",
		"349,988 schedule does not allow it 1,984 batch does not divide",
		"hierarchical 22.00 s 10.00 s 176.0 s 80.00 s 9.000 s 19.56 : 1",
		"it takes 19.6 times the scale-up link (about 3.129 TB/s) and 8.9 times the network (about 444.4 GB/s) together",
		"81,920 x 2.67 above: compute", "network 50.00 GB/s 37.50 GB/s x 0.75 below: network",
		"memory bandwidth 3.000 TB/s no value within 1,000 times flips it",
		"The verdict flips: bound by compute in bf16; by network in fp8.",
		"Budget at the given step time of 19.93 s (estimate: 20.00 s)", "5.34 M USD at 2.00 USD per GPU-hour", "one GPU fails every 50000 h",
		"warning a warning")
}

func TestTrainLeavesOutEmptySections(t *testing.T) {
	r := result()
	a := &api.TrainAnswer{Request: request(t, "llama-3.1-8b", "h100x8", "bf16", "", 64, 4096), Best: r, Plans: []*train.Result{r}, Outcome: &search.Outcome{}}
	got := page(t, 100, func(p *Page) { Train(p, a) })
	for _, s := range []string{"The best", "Why not", "FSDP", "not legal", "would change", "by precision", "run  ", "with failures", "published"} {
		if strings.Contains(got, s) {
			t.Errorf("an empty section shows as %q:\n%s", s, got)
		}
	}
	wants(t, got, "per trillion tokens")
}

func TestTrainSaysFirstThatNothingFits(t *testing.T) {
	a := answer(t)
	r := fsdp()
	r.Memory[mem.Optimizer] = 60e9
	a.Best, a.Plans = r, nil
	got := page(t, 100, func(p *Page) { Train(p, a) })
	fits(t, got, 100)
	wants(t, got, "Verdict: no plan fits The plan that comes nearest needs 189.00 GB per GPU, 113.80 GB more than the 75.20 GB usable.",
		"It is communication-bound: the scale-up link (nvlink of h800-sxm, 160 GB/s per GPU and direction) is busy 176.0 s of it, against 9.000 s of compute.",
		"usable 75.20 GB 39.8 %", "To hold the prediction against it, name its layout: --plan pp=16,ep=64,zero=1,schedule=dualpipe,mbs=1")
	if strings.Contains(got, "offload") {
		t.Error("offloading 60 GB does not cure 113.80 GB too much, and is offered")
	}
	r.Memory[mem.Gathered] = 0
	wants(t, page(t, 100, func(p *Page) { Train(p, a) }), "With the optimizer states (60.00 GB) in host memory it would fit: try --plan offload=optimizer.")
}

func TestTrainHoldsTheNamedPlanAgainstTheBest(t *testing.T) {
	a := answer(t)
	a.Request = request(t, "deepseek-v3", "h800x2048", "fp8", "fsdp", 15360, 4096)
	a.Overall, a.Best = result(), fsdp()
	a.WhyNot = advise.Reason(a.Best, a.Overall)
	got := page(t, 100, func(p *Page) { Train(p, a) })
	fits(t, got, 100)
	wants(t, got, "Verdict: no plan with the named keys fits", "Why not the named plan: does not fit", "step 180.0 s 20.00 s +160.0 s",
		"wait: data parallel 137.0 s 0 s +137.0 s", "wait: expert parallel 0 s 2.500 s -2.500 s", "memory 129.00 GB 60.00 GB +69.00 GB",
		"bound by scale-up link compute", "fits no yes")
	a.Best = result()
	wants(t, page(t, 100, func(p *Page) { Train(p, a) }), "The best plan of the whole space is the same one")
}

func TestBoundsInWords(t *testing.T) {
	for bound, want := range map[train.Bound]string{
		train.BoundCompute: "It is compute-bound: the matrix units alone need 8.000 s at their achieved rates.",
		train.BoundHBM:     "It is bound by memory bandwidth: HBM traffic alone needs 3.000 s.",
		train.BoundNVLink:  "It is communication-bound: the scale-up link (x) is busy 4.000 s of it, against 8.000 s of compute.",
		train.BoundNetwork: "It is communication-bound: the network (x) is busy 6.000 s of it, against 8.000 s of compute.",
		train.BoundBubble:  "It is bound by the pipeline bubble: the busiest rank idles 2.000 s of it.",
		train.BoundLatency: "It is latency-bound.",
	} {
		r := result()
		r.Bound, r.Link = bound, "x"
		if got := boundText(r); got != "A step takes 20.00 s. "+want {
			t.Errorf("%s: %s", bound, got)
		}
	}
}

func TestPlansBreakBetweenKeys(t *testing.T) {
	const text = "tp=8,pp=16,schedule=dualpipe,mbs=1"
	got := page(t, 60, func(p *Page) { p.Width = 24; p.planLine(2, text) })
	want := "  tp=8,pp=16,\n  schedule=dualpipe,\n  mbs=1\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := strings.ReplaceAll(breakCommas(text, 12), " ", ""); got != text {
		t.Errorf("breaking changed the plan to %q", got)
	}
	// A line that has room for the plan but not for the flags behind it breaks between the two.
	const flagged = "tp=2,dp=4,ep=8 --batch-tokens 2048"
	if got := wrap(breakCommas(flagged, 20), 20); !slices.Equal(got, []string{"tp=2,dp=4,ep=8", "--batch-tokens 2048"}) {
		t.Errorf("%q", got)
	}
}

func TestSameLayout(t *testing.T) {
	const published = "pp=16,ep=64,zero=1,schedule=dualpipe,mbs=1"
	for plan, want := range map[string]bool{
		"pp=16,dp=128,ep=64,zero=1,schedule=dualpipe,mbs=1,recompute=selective":     true,
		"tp=2,pp=16,dp=64,ep=64,zero=1,schedule=dualpipe,mbs=1,recompute=none,sp=1": false,
		"pp=8,dp=256,ep=64,zero=1,schedule=dualpipe,mbs=1":                          false,
		"pp=16,dp=128,ep=64,zero=1,schedule=dualpipe-v,mbs=1":                       false,
	} {
		if got := sameLayout(plan, published); got != want {
			t.Errorf("%s: %t", plan, got)
		}
	}
}

func TestTimesOfAStepStayInSeconds(t *testing.T) {
	for s, want := range map[unit.Seconds]string{3e-15: "0 s", -3e-15: "0 s", 0.0446: "44.60 ms", 19.9: "19.90 s", 80.49: "80.49 s", 176.1: "176.1 s", 7200: "2.000 h"} {
		if got := sec(s); got != want {
			t.Errorf("%g s prints as %q, want %q", float64(s), got, want)
		}
	}
}

// TestPagesOfRealAnswersFit draws answers as the commands do.
func TestPagesOfRealAnswersFit(t *testing.T) {
	for _, r := range []*api.TrainRequest{
		request(t, "llama-3.1-8b", "h100x8", "fp8", "", 128, 8192),
		request(t, "llama-3.1-8b", "h100x8", "bf16", "tp=2,pp=2,zero=1", 128, 8192),
		request(t, "llama-3.1-8b", "h100x1", "bf16", "", 8, 4096),
		request(t, "llama-3.1-8b", "rtx-4090x8", "bf16", "tuning=qlora,rank=16", 8, 2048),
		request(t, "llama-3.1-405b", "h100x8", "bf16", "", 8, 8192),
		request(t, "mixtral-8x7b", "h100x16", "bf16", "fsdp", 32, 4096),
		request(t, "gpt-oss-20b", "h100x16", "bf16", "ep=8", 64, 4096),
	} {
		a, err := api.Train(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		got := page(t, 100, func(p *Page) { Train(p, a) })
		fits(t, got, 100)
		wants(t, got, r.Model.Name+" on "+r.Cluster.Name, "Where the step's", "Memory per GPU")
		e, rows, err := api.ExplainTrain(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		got = page(t, 100, func(p *Page) { Operations(p, e, rows) })
		fits(t, got, 100)
		wants(t, got, "embedding operation FLOP bytes", "all phases", "Not listed")
	}
}
