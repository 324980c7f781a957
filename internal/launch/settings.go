package launch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/argv"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Settings are what a serving command says beside its degrees, in the engine's
// words. Zero values were not said.
type Settings struct {
	Role             string `json:"role,omitempty"` // prefill or decode
	Quantization     string `json:"quantization,omitempty"`
	KV               string `json:"kv,omitempty"`
	Speculation      string `json:"speculation,omitempty"` // method:drafts
	PrefixCache      *bool  `json:"prefix_cache,omitempty"`
	RedundantExperts int    `json:"redundant_experts,omitempty"`
	TwoBatch         bool   `json:"two_batch_overlap,omitempty"`
	MaxContext       int64  `json:"max_context,omitempty"`
	MaxRequests      int64  `json:"max_requests,omitempty"`
	BatchTokens      int64  `json:"batch_tokens,omitempty"`
	StreamInterval   int64  `json:"stream_interval,omitempty"`
}

// settings reads them by engine.
func (r *reader) settings(engine string) *Settings {
	s := &Settings{}
	switch engine {
	case argv.VLLM:
		r.vllmSettings(s)
	case argv.SGLang:
		r.sglangSettings(s)
	case argv.TRTLLM:
		r.trtllmSettings(s)
	}
	return s
}

func (r *reader) vllmSettings(s *Settings) {
	s.Quantization, _ = r.text("--quantization")
	s.KV, _ = r.text("--kv-cache-dtype")
	if m, ok := r.key("--speculative-config", "method"); ok {
		n, _ := r.key("--speculative-config", "num_speculative_tokens")
		s.Speculation = fmt.Sprintf("%v:%d", m, whole(n))
	}
	if v, ok := r.key("--eplb-config", "num_redundant_experts"); ok {
		s.RedundantExperts = whole(v)
	}
	if _, given := r.text("--enable-prefix-caching"); given {
		on := r.on("--enable-prefix-caching")
		s.PrefixCache = &on
	}
	switch role, _ := r.key("--kv-transfer-config", "kv_role"); role {
	case "kv_producer":
		s.Role = prefill
	case "kv_consumer":
		s.Role = decode
	}
	s.TwoBatch = r.on("--enable-dbo")
	s.MaxContext, s.MaxRequests = r.count("--max-model-len"), r.count("--max-num-seqs")
	s.BatchTokens, s.StreamInterval = r.count("--max-num-batched-tokens"), r.count("--stream-interval")
}

func (r *reader) sglangSettings(s *Settings) {
	s.Quantization, _ = r.text("--quantization")
	s.KV, _ = r.text("--kv-cache-dtype")
	if m, ok := r.text("--speculative-algorithm"); ok {
		s.Speculation = fmt.Sprintf("%s:%d", m, r.count("--speculative-num-steps"))
	}
	if role, _ := r.text("--disaggregation-mode"); role == prefill || role == decode {
		s.Role = role
	}
	s.RedundantExperts = int(min(r.count("--ep-num-redundant-experts"), maxDegree))
	if r.on("--disable-radix-cache") {
		off := false
		s.PrefixCache = &off
	}
	s.TwoBatch = r.on("--enable-two-batch-overlap")
	s.MaxContext, s.MaxRequests = r.count("--context-length"), r.count("--max-running-requests")
	s.BatchTokens, s.StreamInterval = r.count("--chunked-prefill-size"), r.count("--stream-interval")
}

func (r *reader) trtllmSettings(s *Settings) {
	s.KV, _ = r.text("--kv_cache_dtype")
	if v, ok := r.nested("kv_cache_config", "dtype"); ok {
		s.KV = fmt.Sprint(v)
	}
	if v, ok := r.nested("kv_cache_config", "enable_block_reuse"); ok {
		on := v == true
		s.PrefixCache = &on
	}
	if m, ok := r.nested("speculative_config", "decoding_type"); ok {
		// num_nextn_predict_layers became max_draft_len within the 1.x series.
		n, ok := r.nested("speculative_config", "max_draft_len")
		if !ok {
			n, _ = r.nested("speculative_config", "num_nextn_predict_layers")
		}
		s.Speculation = fmt.Sprintf("%v:%d", m, whole(n))
	}
	s.MaxContext, s.MaxRequests = r.count("--max_seq_len"), r.count("--max_batch_size")
	s.BatchTokens = r.count("--max_num_tokens")
	if v, ok := r.config["stream_interval"]; ok {
		s.StreamInterval = int64(whole(v))
	}
}

// KVFormat is the format that an engine's word for its KV cache names; ok is false
// where it leaves it to the engine or names another.
func KVFormat(engine, word string) (f unit.Format, ok bool) {
	for _, name := range slices.Sorted(maps.Keys(kvNames[engine])) {
		if kvNames[engine][name] == word && word != "auto" {
			return unit.ParseFormat(name)
		}
	}
	if strings.HasPrefix(word, "fp8") { // fp8_e4m3, fp8_inc, fp8_ds_mla
		return unit.ParseFormat("fp8")
	}
	return f, false
}
