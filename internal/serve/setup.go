package serve

import (
	"slices"
	"time"

	"github.com/ridgeline/ridgeline/internal/infer"
)

// DefaultBlock is vLLM's tokens per KV block (--block-size).
const DefaultBlock = 16

// higherFirst are the engines that serve larger priorities first: SGLang's
// --enable-priority-scheduling (without --schedule-low-priority-values-first) and
// TensorRT-LLM's request priority. vLLM's --scheduling-policy priority serves smaller ones.
// Grade: assumed, from what their flags are documented to do, not checked against a run;
// llama.cpp has no priorities and is given vLLM's order.
var higherFirst = []string{"sglang", "trtllm"}

// Of is how the engine schedules by its setup and profile: as many replicas,
// sequences and tokens per step as it prices, and as many KV blocks as its memory
// holds. What vLLM does unless told otherwise is on: prefix cache, batches
// planned ahead. The wait before admission and the cache set aside are the closed form's.
func Of(e *infer.Engine) (Engine, error) {
	setup := e.Setup()
	entry, err := Nanoseconds(setup.Profile.Request)
	if err != nil {
		return Engine{}, err
	}
	perToken, err := Nanoseconds(setup.Profile.RequestToken)
	if err != nil {
		return Engine{}, err
	}
	ranks := setup.Plan.DP
	return Engine{Stepper: e, Ranks: ranks, MaxSeqs: int(min(setup.MaxSequences, setup.MaxBatchTokens)), MaxTokens: int(setup.MaxBatchTokens),
		BlockSize: DefaultBlock, Blocks: int(e.KVTokens() / int64(ranks) / DefaultBlock), MaxContext: int(setup.Model.MaxContext),
		PrefixCache: true, Reserve: setup.Profile.Reserve, Ahead: true, Separate: setup.Profile.Separate, Entry: entry, EntryToken: perToken,
		Admission: setup.Profile.Admission, HigherFirst: slices.Contains(higherFirst, setup.Profile.Engine)}, nil
}

// Over is the time function of a disaggregated service whose caches of perToken
// bytes per prompt token cross the link.
func Over(l *infer.KVLink, perToken float64) func(promptTokens int) time.Duration {
	return func(n int) time.Duration {
		_, t, _ := l.Transfer(infer.CacheSize(int64(n), perToken))
		return time.Duration(float64(t) * 1e9)
	}
}
