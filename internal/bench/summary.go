package bench

import (
	"slices"
	"time"
)

// Span is a stretch of time since the start of a run.
type Span struct{ From, To Timestamp }

func (s Span) length() time.Duration   { return s.To - s.From }
func (s Span) holds(t Timestamp) bool  { return t >= s.From && t <= s.To }
func (s Span) seconds() (a, b float64) { return s.From.Seconds(), s.To.Seconds() }
func (s Span) overlap(o Span) time.Duration {
	return max(0, min(s.To, o.To)-max(s.From, o.From))
}

// life is the time in which a request was in flight.
func (r *Record) life() Span { return Span{r.Dispatched, r.End} }

// SpanOf is from the first request's dispatch to the last one's end.
func SpanOf(records []*Record) Span {
	var s Span
	for i, r := range records {
		if i == 0 || r.Dispatched < s.From {
			s.From = r.Dispatched
		}
		s.To = max(s.To, r.End)
	}
	return s
}

// Summarise derives every metric of the records that lie in the span: those whose
// requests were dispatched in it and whose answers ended in it, for latencies and
// counts; for rates every token and share of life that falls in it, and every
// request that ended in it. Cancelled requests and those of the warm-up count in no latency, but what came of them in
// the span is output of the service. slo nil = no goodput.
func Summarise(records []*Record, span Span, basis Basis, slo *SLO) Summary {
	m := Summary{Basis: basis, Classes: map[string]int{}}
	m.From, m.To = span.seconds()
	var counted, good, ended []*Record
	chunks, tokens, asked := 0, 0, 0
	var busy time.Duration
	var input float64
	for _, r := range records {
		busy += r.life().overlap(span)
		tokens += r.tokensIn(span)
		if r.Warmup || !span.holds(r.End) {
			continue
		}
		if r.Outcome == OK {
			ended = append(ended, r)
			input += float64(r.promptTokens())
		}
		if !span.holds(r.Dispatched) {
			continue
		}
		counted = append(counted, r)
		m.count(r)
		if r.Outcome == OK {
			good = append(good, r)
			n, known := r.Tokens()
			if known {
				asked++
				chunks, m.PerChunk = chunks+len(r.Chunks), m.PerChunk+Figure(n)
			}
		}
	}
	m.PerChunk = ratio(m.PerChunk, Figure(chunks))
	m.Counted = ratio(Figure(asked), Figure(len(good)))
	m.latencies(good, basis)
	m.Queue, m.Slip, m.Upload = sample(counted, (*Record).Queue), sample(counted, (*Record).Slip), sample(counted, (*Record).Upload)
	if s := span.length().Seconds(); s > 0 {
		m.InFlight = Figure(busy.Seconds() / s)
		m.RequestRate, m.OutputRate, m.InputRate = Figure(float64(len(ended))/s), Figure(float64(tokens)/s), Figure(input/s)
		m.goodput(counted, ended, basis, slo, s)
	}
	return m
}

func (m *Summary) count(r *Record) {
	m.Requests.Sent++
	switch r.Outcome {
	case OK:
		m.Requests.OK++
		return
	case Truncated:
		m.Requests.Truncated++
	case Cancelled:
		m.Requests.Cancelled++
	default:
		m.Requests.Failed++
	}
	m.Classes[string(r.Class)]++
}

// latencies are of successes only: how fast a service fails says nothing of how
// fast it answers.
func (m *Summary) latencies(good []*Record, basis Basis) {
	from := func(metric func(*Record, Basis) (time.Duration, bool), b Basis) Dist {
		return sample(good, func(r *Record) (time.Duration, bool) { return metric(r, b) })
	}
	other := Response
	if basis == Response {
		other = Service
	}
	m.TTFB = sample(good, (*Record).TTFB)
	m.TTFT, m.TTFAT, m.E2E, m.PerToken = from((*Record).TTFT, basis), from((*Record).TTFAT, basis), from((*Record).E2E, basis), from((*Record).PerToken, basis)
	m.Other = Latencies{other, from((*Record).TTFT, other), from((*Record).TTFAT, other), from((*Record).E2E, other)}
	m.TPOT, m.MaxGap = sample(good, (*Record).TPOT), sample(good, (*Record).MaxGap)
	m.ICL, m.ITL = gaps(good)
	var in, out []float64
	for _, r := range good {
		if n := r.promptTokens(); n > 0 {
			in = append(in, float64(n))
		}
		if n, known := r.Tokens(); known || m.Counted == 0 {
			out = append(out, float64(n)) // never two sources in one distribution
		}
	}
	m.Input, m.Output = NewDist(in), NewDist(out)
}

// gaps pools the gaps between chunks of all requests, and those between tokens,
// which are null as soon as one request with gaps does not tell the tokens of its
// chunks.
func gaps(good []*Record) (icl Dist, itl *Dist) {
	n := 0
	for _, r := range good {
		n += len(r.Chunks) // some hundred thousand, more than are worth to be moved as lists grow
	}
	between, tokens, known := make([]float64, 0, n), make([]float64, 0, n), true
	for _, r := range good {
		g := r.Gaps()
		for _, d := range g {
			between = append(between, milliseconds(d))
		}
		list, ok := r.InterToken()
		known = known && (ok || len(g) == 0)
		for _, d := range list {
			tokens = append(tokens, milliseconds(d))
		}
	}
	if known && len(tokens) > 0 {
		d := NewDist(tokens)
		itl = &d
	}
	return NewDist(between), itl
}

// goodput counts the requests that keep every promise; those that the client
// itself gave up are not counted at all.
func (m *Summary) goodput(counted, ended []*Record, basis Basis, slo *SLO, seconds float64) {
	if slo == nil || len(slo.objectives()) == 0 {
		return
	}
	for _, o := range slo.objectives() {
		if m.Requests.OK > 0 && !slices.ContainsFunc(counted, func(r *Record) bool { _, ok := o.of(r, basis); return r.Outcome == OK && ok }) {
			return // nothing says whether it was kept
		}
	}
	met, all := 0, 0
	for _, r := range counted {
		if r.Outcome == Cancelled {
			continue
		}
		all++
		if slo.met(r, basis) {
			met++
		}
	}
	n := 0
	for _, r := range ended {
		if slo.met(r, basis) {
			n++
		}
	}
	rate := float64(n) / seconds
	m.Goodput = &rate
	if all > 0 {
		share := float64(met) / float64(all)
		m.GoodShare = &share
	}
}

// tokensIn is how many tokens of an answer came within the span: all of an answer
// that lies in it; else by its chunks, each with the tokens it is known to carry
// or its share of the answer's.
func (r *Record) tokensIn(s Span) int {
	n, _ := r.Tokens()
	if len(r.Chunks) == 0 {
		return 0
	}
	known := 0
	in := 0
	counted := r.Counted()
	for _, c := range r.Chunks {
		known += c.Tokens
		if s.holds(c.At) {
			if counted {
				in += c.Tokens
			} else {
				in++
			}
		}
	}
	if counted && known == n || !counted && n == len(r.Chunks) {
		return in
	}
	total := len(r.Chunks)
	if counted {
		total = known
	}
	return int(float64(n)*float64(in)/float64(total) + 0.5)
}

// promptTokens is what the server counted, else what was asked for.
func (r *Record) promptTokens() int {
	if r.Usage.Known && r.Usage.Prompt > 0 {
		return r.Usage.Prompt
	}
	return r.Input
}

// ratio is a/b, 0 where b is 0: of counts that are 0 together.
func ratio[T ~float64](a, b T) T {
	if b == 0 {
		return 0
	}
	return a / b
}
