package deploy

import (
	"math"
	"slices"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// splitCandidates is the deployment with two roles that the user named; the
// numbers of workers that the plan does not give are open.
func splitCandidates(q *Question, v *Variant, text *plan.ServingText) ([]candidate, error) {
	d := text.Disaggregated()
	for _, x := range []*plan.Serving{&d.Prefill, &d.Decode} {
		if err := x.Check(q.Model, v.Cluster.GPUs); err != nil {
			return nil, note.Of("plan", err)
		}
	}
	if !text.Prefill.Has(plan.KeyWorkers) {
		d.PrefillWorkers = 0
	}
	if !text.Decode.Has(plan.KeyWorkers) {
		d.DecodeWorkers = 0
	}
	if err := checkWorkers(d, v); err != nil {
		return nil, err
	}
	return []candidate{{split: d}}, nil
}

// RolesKept is what both answers about two roles say of measured ones.
var RolesKept = note.New(note.RolesKept, "", "real deployments in two roles keep %.0f to 100 %% of the matched rates: %.1f %% is taken, by steps that take so much longer",
	100*infer.Reached, 100*infer.Kept).With("least", infer.Reached).With("taken", infer.Kept)

// roles are the engines of a deployment with two roles, and the KV link between.
type roles struct {
	infer.Disagg
	prefill, decode *Instance
	plan            plan.Disaggregated
	length          int64
	chunk           int64 // the question's limits, 0 = the engine's own
	slots           int
}

// buildSplit makes one worker of each role. Prefill workers draft nothing.
func (q *Question) buildSplit(v *Variant, d *plan.Disaggregated) (*roles, *Instance, error) {
	plain := *v
	plain.Speculation = nil
	prefill, err := q.Build(&plain, d.Prefill)
	if err != nil {
		return nil, prefill, err
	}
	decode, err := q.Build(v, d.Decode)
	if err != nil {
		return nil, decode, err
	}
	link, err := decode.Engine.KVLink(&d.Prefill)
	if err != nil {
		return nil, nil, err
	}
	cache := unit.Bytes(q.Model.KVBytesPerToken(v.KV, 0)*float64(q.ISL) + 0.5)
	_, transfer, _ := link.Transfer(cache)
	profile := prefill.Engine.Setup().Profile
	r := &roles{prefill: prefill, decode: decode, plan: *d, length: q.ISL + q.OSL, chunk: q.Chunk, slots: q.Slots}
	r.Disagg = infer.Disagg{Prefill: &infer.Role{Inner: prefill.Stepper}, Decode: &infer.Role{Inner: decode.Stepper}, PrefillGPUs: d.Prefill.GPUs(), DecodeGPUs: d.Decode.GPUs(),
		ISL: q.ISL, OSL: q.OSL, Cached: q.Cached, PrefillTokens: prefill.Engine.Setup().MaxBatchTokens * int64(d.Prefill.DP), PrefillRanks: d.Prefill.DP, Spread: q.Spread,
		MaxDecode: int(min(decode.Engine.Holds(q.ISL, q.OSL), decode.Engine.Setup().MaxSequences*int64(d.Decode.DP))),
		Spec:      v.Speculation, Transfer: transfer, TransferGPUs: link.GPUs, Entry: profile.Entry(q.ISL), InStep: !q.Varied && profile.Separate}
	return r, nil, r.Check()
}

// priceSplit prices a deployment with two roles at every concurrency, with the
// numbers of workers that are given or every useful one.
func (c *candidate) priceSplit(q *Question, v *Variant) ([]*Point, error) {
	r, full, err := q.buildSplit(v, c.split)
	if err != nil {
		l := *c.split
		l.PrefillWorkers, l.DecodeWorkers = max(1, l.PrefillWorkers), max(1, l.DecodeWorkers)
		return misfits(q, v, Layout{Split: &l}, full, err)
	}
	var points []*Point
	for _, n := range q.Concurrency {
		for _, w := range r.workers(c.split, int(v.Cluster.GPUs), n) {
			points = append(points, r.point(v, w[0], w[1], n))
		}
	}
	return points, nil
}

// workers lists the numbers of prefill and decode workers worth pricing for n
// requests in flight: the given ones, else for powers of two of decode workers the
// prefill workers that keep up with them, rounded down and up.
func (r *roles) workers(given *plan.Disaggregated, gpus, n int) (list [][2]int) {
	add := func(x, y int) {
		w := [2]int{x, y}
		if x >= 1 && x*r.PrefillGPUs+y*r.DecodeGPUs <= gpus && !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	decode := []int{given.DecodeWorkers}
	if given.DecodeWorkers == 0 {
		decode = nil
		for y := 1; r.PrefillGPUs+y*r.DecodeGPUs <= gpus && y <= n; y *= 2 {
			decode = append(decode, y)
		}
	}
	for _, y := range decode {
		if given.PrefillWorkers > 0 {
			add(given.PrefillWorkers, y)
			continue
		}
		ratio := r.Match(min(r.MaxDecode, max(1, n/y))).Ratio * float64(y)
		add(max(1, int(math.Floor(ratio))), y)
		add(max(1, int(math.Ceil(ratio))), y)
	}
	return list
}

// point is the steady state of x prefill and y decode workers under n requests.
func (r *roles) point(v *Variant, x, y, n int) *Point {
	s := r.Point(x, y, n)
	d := r.plan
	d.PrefillWorkers, d.DecodeWorkers = x, y
	m := r.decode.Engine.Memory()
	p := &Point{Layout: Layout{Split: &d}, Concurrency: n, TTFT: s.TTFT, TPOT: s.TPOT, Output: s.TokensPerSecond, Fits: true, Memory: m,
		Need: m.Parts.Total(), Tokens: copies(r.decode.Engine.KVTokens(), y), Most: copies(r.decode.Engine.MaxConcurrency(r.length), y),
		Batch: s.Sequences, Chunk: r.chunk, Slots: r.slots, Transfer: s.Transfer, Price: v.Cluster.PricePerGPUHour, Free: v.Cluster.Free,
		Warnings: r.decode.Engine.Warnings().And(RolesKept), Assumptions: r.decode.Engine.Assumptions()}
	p.Decode = r.Decode.Step(&infer.Batch{Decode: s.Sequences, DecodeContext: int64(s.Sequences) * (r.ISL + r.OSL/2)})
	p.wire(r.decode)
	p.Ranges = r.decode.Engine.Ranges()
	p.floor = p.Decode.Floor / unit.Seconds(r.decode.spec.Tokens())
	p.Queued, p.Reading = s.Full, s.PrefillBusy
	p.Steady.InStep, p.Steady.Burst, p.Steady.Steady = r.InStep && n > 1, s.Burst, s.Steady
	p.Bound = p.binds()
	switch {
	case s.Bound == "kv capacity":
		p.Bound, p.Queued = BoundQueue, true
		p.Steady.Limit, p.Steady.Running = infer.CacheFull, int64(r.MaxDecode)
		if int64(r.MaxDecode) < r.decode.Engine.MaxConcurrency(r.length) {
			p.Steady.Limit = infer.SlotsFull
		}
	case s.Full:
		if p.Bound = BoundQueue; s.PrefillBusy >= s.LinkBusy {
			p.Steady.Limit = infer.PromptFull
		}
	case s.Bound == "prefill":
		p.Bound = BoundPrefill
	case s.Bound == "kv transfer":
		p.Bound = BoundTransfer
	}
	return p
}
