package bench

import (
	"time"

	"github.com/ridgeline/ridgeline/internal/openai"
)

// Timestamp is a time since the start of the run on one monotonic clock.
type Timestamp = time.Duration

// Outcome is what became of a request. Every request that was sent has exactly one.
type Outcome string

// The outcomes. Truncated answers began and ended without their finish: what
// came of them counts as output, never as success.
const (
	OK        Outcome = "ok"
	Failed    Outcome = "failed"
	Truncated Outcome = "truncated"
	Cancelled Outcome = "cancelled" // by the client at the end of the stage, or by its user
)

// Record is one request's life as the client saw it. Stamps of events that did
// not happen are 0; no event happens at 0, since a run starts before its first.
type Record struct {
	ID      string  // unique within the run
	Origin  *Origin // of the run and its load: shared by the records of a stage
	Stage   int     // number of the stage, from 0
	Warmup  bool    // sent to warm up: in no metric
	Session string  // of several turns, "" otherwise
	Turn    int     // within the session, from 0

	Input  int // prompt tokens asked for, 0 = not known
	Output int // tokens to generate as asked, 0 = as many as the model likes

	Outcome Outcome
	Class   openai.Class // of a failure, "" of a success
	Reason  string       // in words, never the text of prompt or answer
	Status  int          // of HTTP, 0 = no answer came
	Finish  string       // finish_reason
	Stream  bool         // asked for as a stream: otherwise tokens have no times

	Scheduled  Timestamp // when it was to be sent
	Dispatched Timestamp // when a worker took it up
	Sent       Timestamp // last byte of the request written
	Headers    Timestamp // first byte of the answer's head read
	End        Timestamp // the answer was over, or given up
	// Chunks are those that carry tokens, in order of arrival.
	Chunks []openai.Chunk
	// FirstEvent is when the first event of the stream came, with a token or not.
	FirstEvent Timestamp
	// Answer is the index of the first chunk that is no reasoning, -1 = none.
	Answer int

	Usage      openai.Usage
	RetryAfter time.Duration // that a refusal asked for; never obeyed, only reported
	Connection openai.Connection
	// Prompt and Text are kept only where asked for.
	Prompt, Text string
}

// Origin is what a record must say of its run and stage, so that files of several
// workers can be joined.
type Origin struct {
	Run      string `json:"run"`    // the nonce of the run, or of all runs that were started together
	Worker   string `json:"worker"` // that sent it, where several share a run
	URL      string `json:"url"`
	Model    string `json:"model"`
	Endpoint string `json:"endpoint"`
	// Started is the wall clock at the start of the run, by which the records of
	// several workers are laid on one time line; in s since 1970.
	Started  float64 `json:"started_unix_seconds"`
	Mode     Mode    `json:"mode"`
	Level    float64 `json:"level"` // of this worker: requests in flight of a closed loop, requests/s of the others
	Arrival  string  `json:"arrival,omitempty"`
	NetDelay string  `json:"net_delay,omitempty"`
}

// Tokens is how many tokens came, and whether the server said so. A server that
// does not say leaves the count of chunks that carry tokens, which is lower where
// a chunk carries several; it never is the number asked for. A count of none
// beside chunks that carry tokens says nothing either.
func (r *Record) Tokens() (n int, counted bool) {
	if r.Usage.Known && (r.Usage.Completion > 0 || len(r.Chunks) == 0) {
		return r.Usage.Completion, true
	}
	return len(r.Chunks), false
}

// first and last are the stamps of the first and the last token.
func (r *Record) first() (Timestamp, bool) {
	if !r.Stream || len(r.Chunks) == 0 {
		return 0, false
	}
	return r.Chunks[0].At, true
}

func (r *Record) last() (Timestamp, bool) {
	if len(r.Chunks) == 0 {
		return 0, false
	}
	return r.Chunks[len(r.Chunks)-1].At, true
}

// Basis is where a latency starts.
type Basis string

// Service starts at the last byte of the request: what the service did. Response
// starts when the request was due: what a user waited, free of coordinated
// omission, for a client that waits for replies hides the stalls it waits for.
const (
	Service  Basis = "service"
	Response Basis = "response"
)

func (r *Record) start(b Basis) Timestamp {
	if b == Response {
		return r.Scheduled
	}
	return r.Sent
}

// TTFB is the time from the request being sent to the head of the answer.
func (r *Record) TTFB() (time.Duration, bool) {
	return positive(r.Headers-r.Sent, r.Headers > 0 && r.Sent > 0)
}

// TTFT is the time to the first chunk that carries a token of any channel. An
// answer without a token has none, nor has one that was not streamed.
func (r *Record) TTFT(b Basis) (time.Duration, bool) {
	first, ok := r.first()
	return positive(first-r.start(b), ok)
}

// TTFAT is the time to the first token of the answer itself, after reasoning.
func (r *Record) TTFAT(b Basis) (time.Duration, bool) {
	if !r.Stream || r.Answer < 0 || r.Answer >= len(r.Chunks) {
		return 0, false
	}
	return positive(r.Chunks[r.Answer].At-r.start(b), true)
}

// E2E is the time to the last token chunk: what comes after it, such as the chunk
// of usage, makes no token late.
func (r *Record) E2E(b Basis) (time.Duration, bool) {
	last, ok := r.last()
	return positive(last-r.start(b), ok)
}

// TPOT is the mean time of a token after the first: (last - first)/(n - 1).
// Answers of one token have none.
func (r *Record) TPOT() (time.Duration, bool) {
	n, _ := r.Tokens()
	first, ok := r.first()
	if !ok || n < 2 {
		return 0, false
	}
	last, _ := r.last()
	return positive((last-first)/time.Duration(n-1), true)
}

// PerToken is end-to-end time over all tokens, the first one included, which
// other tools print as normalised time per output token.
func (r *Record) PerToken(b Basis) (time.Duration, bool) {
	n, _ := r.Tokens()
	e, ok := r.E2E(b)
	if !ok || n < 1 {
		return 0, false
	}
	return positive(e/time.Duration(n), true)
}

// Queue is the time at the client before the request was written whole.
func (r *Record) Queue() (time.Duration, bool) { return r.Sent - r.Scheduled, r.Sent > 0 }

// Slip is how much later than scheduled a worker took the request up.
func (r *Record) Slip() (time.Duration, bool) { return r.Dispatched - r.Scheduled, r.Dispatched > 0 }

// Upload is the time of connecting and writing the request.
func (r *Record) Upload() (time.Duration, bool) {
	return r.Sent - r.Dispatched, r.Sent > 0 && r.Dispatched > 0
}

// Gaps are the times between neighbouring token chunks: one fewer than chunks.
func (r *Record) Gaps() []time.Duration {
	if !r.Stream || len(r.Chunks) < 2 {
		return nil
	}
	gaps := make([]time.Duration, len(r.Chunks)-1)
	for i := range gaps {
		gaps[i] = r.Chunks[i+1].At - r.Chunks[i].At
	}
	return gaps
}

// MaxGap is the longest of the Gaps: a stall of decoding.
func (r *Record) MaxGap() (longest time.Duration, ok bool) {
	for _, g := range r.Gaps() {
		longest, ok = max(longest, g), true
	}
	return longest, ok
}

// InterToken are the times between tokens; ok only where the tokens of every
// chunk are known. The gap before a chunk of k tokens counts as k equal ones.
func (r *Record) InterToken() (list []time.Duration, ok bool) {
	gaps := r.Gaps()
	if len(gaps) == 0 || !r.Counted() {
		return nil, false
	}
	for i, g := range gaps {
		k := r.Chunks[i+1].Tokens
		for range k {
			list = append(list, g/time.Duration(k))
		}
	}
	return list, true
}

// Counted tells whether the tokens of each chunk are known: the server said so
// with every chunk, or as many tokens as chunks came, which is one each.
func (r *Record) Counted() bool {
	if !r.Stream || len(r.Chunks) == 0 {
		return false
	}
	for _, c := range r.Chunks {
		if c.Tokens < 1 {
			return false
		}
	}
	return true
}

// positive refuses times at or below 0: they come of clocks or counts that do
// not belong together and would flatter every mean.
func positive(d time.Duration, ok bool) (time.Duration, bool) {
	if !ok || d <= 0 {
		return 0, false
	}
	return d, true
}
