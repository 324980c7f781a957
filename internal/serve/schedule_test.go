package serve

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// lives are queued, started, first and last of every record in milliseconds.
func lives(r *Result) (out [][]int) {
	for _, x := range r.Records {
		out = append(out, millis(x.Queued, x.Started, x.First, x.Last))
	}
	return out
}

// Steps of 10 ms worked out by hand.
func TestSchedulesByHand(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(e *Engine)
		load   *workload.Workload
		want   [][]int // queued, started, first, last
	}{
		{"one request: a step for the prompt and its first token, one for each other token",
			func(*Engine) {}, requests([3]int{5, 10, 3}), [][]int{{5, 5, 15, 35}}},
		{"a prompt of 130 tokens is read in chunks of 64, 64 and 2",
			func(*Engine) {}, requests([3]int{0, 130, 2}), [][]int{{0, 0, 30, 40}}},
		{"who comes in a step waits for the next; prompt and generation share it",
			func(*Engine) {}, requests([3]int{0, 10, 4}, [3]int{1, 10, 1}), [][]int{{0, 0, 10, 40}, {1, 10, 20, 20}}},
		{"generation comes first: the long prompt gets what is left of 64 tokens, 63 of its 127 a step",
			func(*Engine) {}, requests([3]int{0, 10, 5}, [3]int{1, 127, 1}), [][]int{{0, 0, 10, 50}, {1, 10, 40, 40}}},
		{"requests that come at one instant run together",
			func(*Engine) {}, requests([3]int{0, 10, 1}, [3]int{0, 10, 1}), [][]int{{0, 0, 10, 10}, {0, 0, 10, 10}}},
		{"one sequence at a time",
			func(e *Engine) { e.MaxSeqs = 1 }, requests([3]int{0, 10, 2}, [3]int{0, 10, 2}), [][]int{{0, 0, 10, 20}, {0, 20, 30, 40}}},
		{"planned ahead: who comes in the first step misses the second, whose batch is fixed",
			func(e *Engine) { e.Ahead = true }, requests([3]int{0, 10, 4}, [3]int{1, 10, 2}), [][]int{{0, 0, 10, 40}, {1, 20, 30, 40}}},
		{"prompts apart: the second one's step holds the first up",
			func(e *Engine) { e.Separate = true }, requests([3]int{0, 10, 3}, [3]int{1, 10, 2}), [][]int{{0, 0, 10, 40}, {1, 10, 20, 30}}},
		{"a fifth of a millisecond to tokenise each of ten",
			func(e *Engine) { e.EntryToken = time.Millisecond / 5 }, requests([3]int{0, 10, 2}), [][]int{{0, 2, 12, 22}}},
		{"the shorter prompt reaches the queue first, and the only place",
			func(e *Engine) { e.EntryToken, e.MaxSeqs = time.Millisecond, 1 }, requests([3]int{0, 10, 1}, [3]int{0, 5, 1}), [][]int{{0, 15, 25, 25}, {0, 5, 15, 15}}},
		{"priority 0 before 1, in order of arrival among equals",
			func(e *Engine) { e.Priority, e.MaxSeqs = true, 1 },
			&workload.Workload{Requests: []workload.Request{{Input: 4, Output: 1, Priority: 1}, {At: 1, Input: 4, Output: 1, Priority: 1}, {At: 2, Input: 4, Output: 1}, {At: 3, Input: 4, Output: 1}}},
			[][]int{{0, 0, 10, 10}, {0, 30, 40, 40}, {0, 10, 20, 20}, {0, 20, 30, 30}}},
	} {
		e := engine(ms(10))
		c.change(&e)
		if diff := cmp.Diff(c.want, lives(run(t, &Service{Engine: e}, c.load, Options{}))); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// batches records what the engine is asked to price.
type batches struct{ all []infer.Batch }

func (b *batches) Step(x *infer.Batch) infer.Step {
	b.all = append(b.all, *x)
	return infer.Step{Total: 0.01}
}

// The batches of a chunked prompt beside a generating sequence: tokens, context
// and pairs. 127 tokens have 127 x 128 / 2 = 8128 causal pairs, however they are cut.
func TestBatches(t *testing.T) {
	b := &batches{}
	run(t, &Service{Engine: engine(b)}, requests([3]int{0, 10, 5}, [3]int{1, 127, 2}), Options{})
	want := []infer.Batch{
		{Prefill: 10, PrefillPairs: 55, Prompts: 1, Busiest: 10},
		{Decode: 1, DecodeContext: 11, Prefill: 63, PrefillPairs: 63 * 64 / 2, Prompts: 1, Busiest: 63},
		{Decode: 1, DecodeContext: 12, Prefill: 63, PrefillPairs: 63*63 + 63*64/2, Prompts: 1, Busiest: 63},
		{Decode: 2, DecodeContext: 13 + 127}, // the last token of a prompt alone is priced as a generated one
		{Decode: 2, DecodeContext: 14 + 128},
	}
	if diff := cmp.Diff(want, b.all); diff != "" {
		t.Error(diff)
	}
	if pairs := b.all[1].PrefillPairs + b.all[2].PrefillPairs + 127; pairs != 8128 {
		t.Errorf("%g pairs of 127 tokens", pairs)
	}
}

// Two sequences of 8 + 12 tokens in 8 blocks of 4, 10 ms a step: both run until
// each holds 16 tokens in 4 blocks, then the second gives way, its 9 tokens of 12
// generated; it is read again when the first is done.
func TestPreemptionByRecompute(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(e *Engine)
		prompt int64 // tokens read in all
		last   [][]int
	}{
		{"without a cache all 17 tokens are read again", func(*Engine) {}, 8 + 8 + 17, [][]int{{0, 0, 10, 120}, {0, 0, 10, 150}}},
		{"a cache keeps what the first did not take: 12 of 16, its last block went to the first's growth", func(e *Engine) { e.PrefixCache = true }, 8 + 8 + 5, [][]int{{0, 0, 10, 120}, {0, 0, 10, 150}}},
	} {
		e := engine(ms(10))
		e.Blocks = 8
		c.change(&e)
		r := run(t, &Service{Engine: e}, requests([3]int{0, 8, 12}, [3]int{0, 8, 12}), Options{})
		if r.Preemptions != 1 || r.Records[1].Preempted != 1 || r.Prompt != c.prompt {
			t.Errorf("%s: %d preemptions, %d tokens read, want %d", c.name, r.Preemptions, r.Prompt, c.prompt)
		}
		if diff := cmp.Diff(c.last, lives(r)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// A second prompt that shares 2 of 3 blocks of 8 tokens reads the rest; the
// whole prompt cached, its last block is read for the sake of its last token.
func TestPrefixCache(t *testing.T) {
	load := func() *workload.Workload {
		return &workload.Workload{BlockTokens: 8, Requests: []workload.Request{
			{Input: 24, Output: 1, Blocks: []uint64{1, 2, 3}},
			{At: 50e6, Input: 30, Output: 1, Blocks: []uint64{1, 2, 4, 5}},
			{At: 100e6, Input: 24, Output: 1, Blocks: []uint64{1, 2, 3}},
		}}
	}
	e := engine(ms(10))
	e.PrefixCache = true
	r := run(t, &Service{Engine: e}, load(), Options{})
	for i, want := range []int{0, 16, 16} {
		if r.Records[i].Cached != want {
			t.Errorf("request %d: %d tokens cached, want %d", i, r.Records[i].Cached, want)
		}
	}
	if r.Prompt != 24+14+8 || r.Cached != 32 {
		t.Errorf("%d read, %d cached", r.Prompt, r.Cached)
	}
	e.PrefixCache = false
	if r := run(t, &Service{Engine: e}, load(), Options{}); r.Cached != 0 || r.Prompt != 78 {
		t.Errorf("without the cache %d read, %d cached", r.Prompt, r.Cached)
	}
	// 8 blocks: the second prompt pushes the third block of the first out, least
	// recently used; the third request finds the two that the second used too.
	e.PrefixCache, e.Blocks = true, 8
	if r := run(t, &Service{Engine: e}, load(), Options{}); r.Records[2].Cached != 16 {
		t.Errorf("a small cache kept %d", r.Records[2].Cached)
	}
}

// A chance of 1 gives every draft, 0 none; between, the mean tokens per step
// are 1 + p + p q for chances p and q.
func TestSpeculation(t *testing.T) {
	for _, c := range []struct {
		accept []float64
		perRun float64
	}{{[]float64{1, 1}, 3}, {[]float64{0, 1}, 1}, {[]float64{0.8, 0.5}, 1 + 0.8 + 0.8*0.5}} {
		e := engine(ms(10))
		e.Speculation = &infer.Speculation{Drafter: infer.MTP, Drafts: 2, Accept: c.accept}
		const tokens = 3001
		r := run(t, &Service{Engine: e}, requests([3]int{0, 8, tokens}), Options{})
		steps := float64(r.Records[0].Last-r.Records[0].First) / 10e6
		if got := (tokens - 1) / steps; math.Abs(got/c.perRun-1) > 0.02 {
			t.Errorf("%v: %.3f tokens per step, want %.3f", c.accept, got, c.perRun)
		}
	}
}

// A disaggregated service: a step of 10 ms reads, 7 ms move the cache and give
// the first token, steps of 4 ms generate.
func TestDisaggregated(t *testing.T) {
	e, d := engine(ms(10)), engine(ms(4))
	s := &Service{Engine: e, Decode: &d, Transfer: func(n int) time.Duration { return time.Duration(n) * time.Millisecond }}
	r := run(t, s, requests([3]int{0, 7, 3}, [3]int{1, 7, 1}), Options{})
	if diff := cmp.Diff([][]int{{0, 0, 17, 25}, {1, 10, 27, 27}}, lives(r)); diff != "" {
		t.Error(diff)
	}
}

func TestRouting(t *testing.T) {
	e := engine(ms(10))
	e.MaxSeqs, e.Ranks = 1, 2
	load := requests([3]int{0, 4, 9}, [3]int{0, 4, 1}, [3]int{15, 4, 1})
	// In turn the third request lands behind the first; by load it finds the second's place.
	if r := run(t, &Service{Engine: e}, load, Options{}); r.Records[2].Started != 90*time.Millisecond {
		t.Errorf("in turn: started at %v", r.Records[2].Started)
	}
	if r := run(t, &Service{Engine: e, Routing: LeastLoaded}, load, Options{}); r.Records[2].Started != 20*time.Millisecond {
		t.Errorf("by load: started at %v", r.Records[2].Started)
	}
}

func TestBadInput(t *testing.T) {
	ok := engine(ms(1))
	load := requests([3]int{0, 1, 1})
	for want, change := range map[string]func(e *Engine){
		"max-num-seqs 0":           func(e *Engine) { e.MaxSeqs = 0 },
		"max-num-batched-tokens 7": func(e *Engine) { e.MaxTokens = 7 },
		"block-size 0":             func(e *Engine) { e.BlockSize = 0 },
		"lower block-size":         func(e *Engine) { e.Blocks = 0 },
		"no prices":                func(e *Engine) { e.Stepper = nil },
		"does not fit the clock":   func(e *Engine) { e.Stepper = ms(math.NaN()) },
		"-1.000 ms does not fit":   func(e *Engine) { e.Stepper = ms(-1) },
		"+Inf d does not fit":      func(e *Engine) { e.Stepper = ms(math.Inf(1)) },
		"max-num-batched-tokens 64": func(e *Engine) {
			e.Speculation = &infer.Speculation{Drafter: infer.MTP, Drafts: 8, Accept: make([]float64, 8)}
		},
	} {
		e := ok
		change(&e)
		if r, err := Run(context.Background(), &Service{Engine: e}, load, Options{}); err == nil || !strings.Contains(err.Error(), want) || r != nil {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if _, err := Run(context.Background(), &Service{Engine: ok}, &workload.Workload{}, Options{}); err == nil {
		t.Error("an empty workload ran")
	}
	e := ok
	e.PrefixCache = true
	if _, err := Run(context.Background(), &Service{Engine: e}, &workload.Workload{BlockTokens: 6, Requests: load.Requests}, Options{}); err == nil {
		t.Error("blocks of 6 tokens made of blocks of 4")
	}
	// A request that can never fit is dropped with its reason; others go on.
	e.PrefixCache, e.Blocks = false, 2
	r := run(t, &Service{Engine: e}, requests([3]int{0, 8, 1}, [3]int{0, 7, 1}), Options{})
	if r.Dropped != 1 || r.Done != 1 || !strings.Contains(r.Records[0].Reason, "the KV cache holds 8") {
		t.Errorf("%+v", r.Records)
	}
}
