package bench

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/note"
)

// The limits beyond which a stage is not what was asked for.
const (
	outputShare   = 0.05 // answers shorter or longer than asked, by this share
	outputTokens  = 50   // or by so many tokens
	leastPerChunk = 0.95 // tokens per chunk: no token comes in two
	promptShare   = 0.01 // prompts
	cacheHits     = 0.01 // hits of a prefix cache that should have none
	zeroGaps      = 0.05 // chunks read together with the one before
	shortWindow   = 0.5  // coverage of the steady window
	ttftFactor    = 2    // client's TTFT over the service's own
	ttftFloor     = 50.0 // ms: differences below that are the network's
	unsteadyLeast = 10   // requests per user below which no window is expected
	inFlightShare = 0.8  // mean in flight over what was asked for: the end of ten requests per user costs a tenth of it, this twice as much
)

// warnings is what a reader must know of a stage before believing it.
func warnings(c *Config, s *Stage, records []*Record) (list note.List) {
	var good []*Record
	for _, r := range records {
		if r.Outcome == OK && !r.Warmup {
			good = append(good, r)
		}
	}
	wrongOutput, wrongPrompt, asked := 0, 0, 0
	for _, r := range good {
		n, known := r.Tokens()
		if r.Output > 0 && known && (math.Abs(float64(n-r.Output)) > outputShare*float64(r.Output) || abs(n-r.Output) > outputTokens) {
			wrongOutput++
		}
		if r.Input > 0 && r.Usage.Known && r.Usage.Prompt > 0 {
			asked++
			if math.Abs(float64(r.Usage.Prompt-r.Input)) > promptShare*float64(r.Input) {
				wrongPrompt++
			}
		}
	}
	if wrongOutput > 0 {
		kind, hint := note.AnswerLengths, "ask for exact lengths with ignore_eos"
		if c.IgnoreEOS {
			kind, hint = note.EOSNotIgnored, "the service did not honour ignore_eos and min_tokens"
		}
		list.Say(kind, "wrong answers", "%d of %d answers are not as long as asked: %s", wrongOutput, len(good), hint)
	}
	if wrongPrompt > 0 {
		list.Say(note.PromptLengths, "wrong prompts mean", "%d of %d prompts are not as long as asked by the service's own count: mean %.1f tokens", wrongPrompt, asked, s.Input.Mean)
	}
	if len(good) > 0 && s.Counted < 1 {
		list = append(list, note.New(note.CountedByChunks, "", "the service counted the tokens of %.0f %% of the answers: the rest is counted by chunks, which is too low where a chunk carries several", 100*s.Counted).With("share", s.Counted))
	}
	if s.PerChunk > 1.05 && s.ITL == nil && c.Stream {
		list.Say(note.TokensPerChunk, "tokens", "a chunk carries %.3g tokens: gaps between chunks are no inter-token latency, and engines with other chunks do not compare by them", s.PerChunk)
	}
	if s.Counted > 0 && s.PerChunk > 0 && s.PerChunk < leastPerChunk && c.Stream {
		list.Say(note.TokensPerChunk, "tokens", "a chunk carries %.3g tokens by the service's count: it counts fewer than it sends, or sends a token in several chunks; TPOT and rates follow its count", s.PerChunk)
	}
	if step, ok := keptStep(records); ok && s.Mode == Closed && s.Concurrency == 1 {
		list = append(list, note.New(note.DelayedACK, "", "first tokens come %.0f ms later on a kept connection than on a new one: so long an acknowledgement is delayed that Nagle's algorithm waits for; set TCP_NODELAY at the service", step).With("seconds", step/1e3))
	}
	list = append(list, s.loadWarnings(c, records)...)
	return append(list, s.serverWarnings(c, good)...)
}

func abs(n int) int { return max(n, -n) }

// loadWarnings is about what was put on.
func (s *Stage) loadWarnings(c *Config, records []*Record) (list note.List) {
	few := s.Mode == Closed && s.emptier(c, records)
	switch {
	case s.Mode == Open && s.Concurrency > 0 && s.Slip.N > 0 && s.Slip.P99 > lagFloor:
		list = append(list, note.New(note.WaitedForPlace, "most _ arrival", "at most %d in flight: requests waited %.3g ms for a place (p99), and no longer come as %s", s.Concurrency, s.Slip.P99, s.Arrival).With("seconds", s.Slip.P99/1e3))
	case s.Mode == Open && s.Achieved > 0 && s.Requests.Sent >= leastForRate && s.Client.Valid && s.Slip.P99 > lagFloor:
		list = append(list, note.New(note.LeftLate, "", "requests left %.3g ms after their time (p99)", s.Slip.P99).With("seconds", s.Slip.P99/1e3))
	}
	if s.Unsent != nil && *s.Unsent > 0 {
		list.Say(note.NeverSent, "requests", "%d requests were due and never sent", *s.Unsent)
	}
	if few {
		list.Say(note.FewInFlight, "mean users requests", "on average %.3g of %d were in flight: the figures are of a lighter load than asked for; take %d requests or more", s.InFlight, s.Concurrency, perUser*s.Concurrency)
	}
	if s.Mode == Closed && !few && s.Requests.OK >= unsteadyLeast*s.Concurrency && (s.Steady == nil || s.Steady.Coverage < shortWindow) {
		list.Say(note.ShortSteady, "", "the load stood for less than half of the stage: take the steady window, or more requests")
	}
	return list
}

// emptier tells whether a closed loop stood far below its users: fewer sessions than
// users were measured, or places were empty for much of the time for another reason than
// that their users think.
func (s *Stage) emptier(c *Config, records []*Record) bool {
	sessions := 0
	for _, r := range records {
		if !r.Warmup && r.Turn == 0 {
			sessions++
		}
	}
	if sessions == 0 || s.Requests.OK == 0 {
		return false // nothing that could be taken for a figure of the load
	}
	return sessions < s.Concurrency || c.Think == 0 && float64(s.InFlight) < inFlightShare*float64(s.Concurrency)
}

// serverWarnings compares with what the service says of itself.
func (s *Stage) serverWarnings(c *Config, good []*Record) (list note.List) {
	m := s.Server
	if m != nil && m.PrefixHits != nil && *m.PrefixHits > cacheHits && c.Trace == nil && c.Turns == 1 {
		list = append(list, note.New(note.PrefixHits, "", "%.1f %% of the prompts' tokens came from the prefix cache, though every prompt is new: clear the cache, or look for another load on the service", 100**m.PrefixHits).With("share", *m.PrefixHits))
	}
	if m != nil && m.TTFT != nil {
		if d := sample(good, func(r *Record) (Timestamp, bool) { return r.TTFT(Service) }); d.N > 0 && d.Mean > ttftFactor**m.TTFT && d.Mean-*m.TTFT > ttftFloor {
			list = append(list, note.New(note.TTFTApart, "", "the client saw its first tokens after %.4g ms, the service after %.4g ms: look at what lies between, or at a reasoning parser", d.Mean, *m.TTFT).
				With("client_seconds", d.Mean/1e3).With("service_seconds", *m.TTFT/1e3))
		}
	}
	together, gaps := 0, 0
	for _, r := range good {
		for _, g := range r.Gaps() {
			if gaps++; g == 0 {
				together++
			}
		}
	}
	if gaps > 0 && float64(together) > zeroGaps*float64(gaps) {
		share := float64(together) / float64(gaps)
		list = append(list, note.New(note.ChunksTogether, "", "%.0f %% of the chunks were read together with the one before: the service, what lies between or the client holds chunks back", 100*share).With("share", share))
	}
	return list
}

// An acknowledgement is delayed by 40 ms on Linux (TCP_DELACK_MIN), not within the first
// packets of a connection, which are acknowledged at once.
const (
	ackDelay     = 40.0 // ms
	ackTolerance = 10.0
)

// keptStep is by how much the median TTFT of requests on a kept connection lies above
// the least of those on a new one; ok where that is the delay of an acknowledgement.
func keptStep(records []*Record) (ms float64, ok bool) {
	fresh, kept := math.Inf(1), []float64{}
	for _, r := range records {
		d, known := r.TTFT(Service)
		switch {
		case !known || r.Outcome != OK:
		case r.Connection.Reused:
			kept = append(kept, milliseconds(d))
		default:
			fresh = min(fresh, milliseconds(d))
		}
	}
	if len(kept) == 0 || math.IsInf(fresh, 1) {
		return 0, false
	}
	step := NewDist(kept).P50 - fresh
	return step, math.Abs(step-ackDelay) <= ackTolerance
}
