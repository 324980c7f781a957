package serve

import (
	"context"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// linear prices a step by a line: seconds per step, per prompt token, per
// generating sequence, per token of context and per pair.
type linear struct{ step, prompt, decode, context, pair float64 }

func (l linear) Step(b *infer.Batch) infer.Step {
	t := l.step + l.prompt*float64(b.Prefill) + l.decode*float64(b.Decode*(1+b.Draft)) + l.context*float64(b.DecodeContext) + l.pair*b.PrefillPairs
	return infer.Step{Total: unit.Seconds(t)}
}

// ms is a step of n milliseconds whatever runs in it.
func ms(n float64) linear { return linear{step: n / 1e3} }

// engine is a small one; tests change what they are about.
func engine(s infer.Stepper) Engine {
	return Engine{Stepper: s, MaxSeqs: 8, MaxTokens: 64, BlockSize: 4, Blocks: 1000}
}

// request makes an open workload of requests (at ms, input, output).
func requests(rows ...[3]int) *workload.Workload {
	w := &workload.Workload{Name: "test"}
	for _, r := range rows {
		w.Requests = append(w.Requests, workload.Request{At: time.Duration(r[0]) * time.Millisecond, Input: r[1], Output: r[2]})
	}
	return w
}

func run(t testing.TB, s *Service, w *workload.Workload, o Options) *Result {
	t.Helper()
	r, err := Run(context.Background(), s, w, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// millis are times in milliseconds.
func millis(times ...time.Duration) (out []int) {
	for _, t := range times {
		out = append(out, int(t.Milliseconds()))
	}
	return out
}
