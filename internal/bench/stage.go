package bench

// maxStages bounds the stages of a run.
const maxStages = 10_000

// NewStage derives the figures of a stage from its records, warm-up included.
// cap is the most that may be in flight of an open load, 0 = no cap.
func NewStage(records []*Record, slo *SLO) Stage {
	s := Stage{Timeline: []Moment{}, Warnings: []string{}, Client: Client{Valid: true, Reasons: []string{}}}
	var measured []*Record
	for _, r := range records {
		if r.Warmup {
			s.Warmup++
		} else {
			measured = append(measured, r)
		}
	}
	basis := Service
	if len(records) > 0 {
		o := records[0].Origin
		s.Mode, s.Arrival, s.NetDelay = o.Mode, o.Arrival, o.NetDelay
		if s.Mode == Closed {
			s.Concurrency, s.Unsent = int(o.Level), new(int) // a request is due when it is sent
		} else {
			s.Rate, basis = o.Level, Response
		}
	}
	span := SpanOf(measured)
	s.Summary = Summarise(records, span, basis, slo)
	s.Coverage = 1
	s.Achieved = Figure(achieved(measured))
	if w, ok := Steady(records); ok {
		if w = w.within(span); w.length() > 0 {
			m := Summarise(records, w, basis, slo)
			m.Coverage = ratio(float64(w.length()), float64(span.length()))
			if s.Mode == Closed || m.Coverage >= shortWindow { // the peak of random arrivals is their densest moment, not their load
				s.Steady = &m
			}
		}
	}
	s.Timeline = Timeline(records, SpanOf(records))
	if slo != nil && len(slo.objectives()) > 0 {
		s.Missed = slo.Misses(&s.Summary, measured)
		meets := s.Missed == ""
		s.Meets = &meets
	}
	return s
}

func (s Span) within(o Span) Span { return Span{max(s.From, o.From), min(s.To, o.To)} }

// achieved is the rate of dispatch of sessions, which is what a rate asks for:
// n - 1 gaps over the time between the first and the last. Later turns come when
// their user has thought.
func achieved(records []*Record) float64 {
	var s Span
	n := 0
	for _, r := range records {
		if r.Dispatched == 0 || r.Turn > 0 {
			continue
		}
		if n == 0 || r.Dispatched < s.From {
			s.From = r.Dispatched
		}
		s.To = max(s.To, r.Dispatched)
		n++
	}
	return ratio(float64(n-1), s.length().Seconds())
}
