package launch

import "github.com/ridgeline/ridgeline/internal/argv"

// A limit means other things to other programs: infer counts the sequences of an
// instance and the tokens that a step of one attention replica takes. vLLM's and
// TensorRT-LLM's flags are those of a replica, which schedules by itself; SGLang's are an
// instance's, which it divides over the replicas of its attention DP
// (sglang/srt/server_args.py, managers/tp_worker.py).

// byReplica tells whether an engine's limits are those of one attention replica.
func byReplica(engine string) bool { return engine == argv.VLLM || engine == argv.TRTLLM }

// mostLimit bounds what is multiplied.
const mostLimit = 1 << 40

// Sequences is how many requests an instance of dp attention replicas generates at once
// under an engine's own limit; 0 stays 0, the engine's default.
func Sequences(engine string, limit int64, dp int) int64 {
	if byReplica(engine) {
		return min(limit, mostLimit) * int64(max(dp, 1))
	}
	return limit
}

// stepTokens is how many tokens a step of one of dp replicas takes under an engine's own
// limit.
func stepTokens(engine string, limit int64, dp int) int64 {
	if byReplica(engine) {
		return limit
	}
	return share(limit, dp)
}

// share is the part of one of dp replicas, rounded up.
func share(limit int64, dp int) int64 { return (limit + int64(max(dp, 1)) - 1) / int64(max(dp, 1)) }

// ownSequences is the engine's own limit for --max-sequences.
func (b *builder) ownSequences(r role) int64 {
	if byReplica(b.Engine) {
		return share(b.Serve.MaxSequences, r.layout.DP)
	}
	return b.Serve.MaxSequences
}

// ownTokens is the engine's own limit for --batch-tokens.
func (b *builder) ownTokens(r role) int64 {
	if byReplica(b.Engine) {
		return b.Serve.BatchTokens
	}
	return min(b.Serve.BatchTokens, mostLimit) * int64(r.layout.DP)
}
