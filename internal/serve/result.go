package serve

import (
	"time"

	"github.com/ridgeline/ridgeline/internal/workload"
)

// Summary is a stretch of a run. Requests count where they arrived within it.
type Summary struct {
	From, To time.Duration
	Requests int // that arrived in it, dropped ones left out
	Done     int // of these, answered by the end of the run

	TTFT, TPOT, E2E, Queueing Dist // seconds, over requests
	ITL                       Dist // seconds, over tokens; with speculation over the steps that gave some
	Batch                     Dist // sequences in a step that generates, over the time in such steps
	KV                        Dist // share of the KV blocks held by what generates, likewise

	RequestRate float64 // answers per second
	OutputRate  float64 // tokens given per second
	PromptRate  float64 // prompt tokens run per second
	Busy        float64 // share of the time in steps, of instances that generate
	Reading     float64 // and of instances that only read prompts
	CachedShare float64 // prompt tokens found cached, over those found or run
	Preempted   int64   // preemptions
	MeanStep    float64 // seconds
	// Goodput is good answers per second, GoodShare those of all that were
	// answered or dropped. Without an SLO every answer is good.
	Goodput, GoodShare float64
}

// Result is a simulated run.
type Result struct {
	Records                             []workload.Record // in order of arrival
	Partial                             bool              // it was cut: what follows is what there is
	Arrived, Done, Dropped, Unfinished  int
	End                                 time.Duration // when the last event was
	Prompt, Output, Cached, Preemptions int64
	Whole                               Summary
	// Steady is the run between start-up and drain, nil where it is too short to
	// hold one: fewer than minSteady requests arrived in it.
	Steady *Summary
	// Overload says that the queue grew while requests arrived, with figures; ""
	// where it did not, see overload. Waiting times then measure how long the load lasted: means
	// and tails of TTFT, queueing and E2E say nothing of a longer run.
	Overload  string
	Instances int
	Timeline  []Moment
	// AtOnce tells that the users of a closed loop all came at one moment.
	AtOnce bool
}

// minSteady is the fewest requests that a steady stretch is made of.
const minSteady = 20

// Mean is the summary that means are read from and an objective is held against: the steady
// stretch, or the whole run where there is none. What a run's start adds is in Whole.
func (r *Result) Mean() *Summary {
	if r.Steady != nil {
		return r.Steady
	}
	return &r.Whole
}

// result sums the run up.
func (s *simulation) result(partial bool) (*Result, error) {
	f, end, w := &s.flow, s.clock.Now(), &s.watch
	n := len(s.readers) + len(s.decoders)
	r := &Result{Records: s.records[:f.Arrived], Partial: partial, Arrived: f.Arrived, Done: f.Done, Dropped: f.Dropped,
		Unfinished: f.underway(), End: end, Prompt: f.Prompt, Output: f.Output, Cached: f.Cached, Preemptions: f.Preempted,
		Instances: n, Timeline: w.timeline.moments(end, n), AtOnce: s.load.Concurrency > 1 && s.load.Ramp == 0}
	r.Whole = s.summary(0, end, *f, w.whole)
	if partial && w.open {
		w.to, w.after = end, *f
	}
	if w.to > w.from {
		steady := s.summary(w.from, w.to, w.after.minus(w.before), w.steady)
		if steady.Requests >= minSteady {
			r.Steady = &steady
		}
	}
	r.Overload = s.overload()
	return r, nil
}

// summary is the stretch from..to, in which f went through.
func (s *simulation) summary(from, to time.Duration, f flow, m *meters) Summary {
	var within []*workload.Record
	good, judged := 0, 0
	for i := range s.records[:s.flow.Arrived] {
		r := &s.records[i]
		if r.Queued < from || r.Queued > to {
			continue
		}
		if r.Outcome != workload.Unfinished {
			judged++
			if s.options.SLO.Good(r) {
				good++
			}
		}
		if r.Outcome != workload.Dropped {
			within = append(within, r)
		}
	}
	x := Summary{From: from, To: to, Requests: len(within), Preempted: f.Preempted,
		TTFT: of(within, (*workload.Record).TTFT), TPOT: of(within, (*workload.Record).TPOT), E2E: of(within, (*workload.Record).E2E),
		Queueing: of(within, (*workload.Record).Queueing), ITL: m.gapsDist(), Batch: overTime(m.batch, 1), KV: overTime(m.fill, 1.0/fills)}
	x.Done = int(x.E2E.N)
	if length := (to - from).Seconds(); length > 0 {
		x.RequestRate, x.OutputRate, x.PromptRate = float64(f.Done)/length, float64(f.Output)/length, float64(f.Prompt)/length
		x.Busy = min(f.Busy.Seconds()/length/float64(s.generating()), 1)
		if len(s.decoders) > 0 {
			x.Reading = min(f.Reading.Seconds()/length/float64(len(s.readers)), 1)
		}
		if judged > 0 {
			x.GoodShare = float64(good) / float64(judged)
			x.Goodput = float64(good) / length
		}
	}
	if f.Steps > 0 {
		x.MeanStep = (f.Busy + f.Reading).Seconds() / float64(f.Steps)
	}
	if f.Cached > 0 {
		x.CachedShare = float64(f.Cached) / float64(f.Cached+f.Prompt)
	}
	return x
}

// generating is the number of instances that generate.
func (s *simulation) generating() int {
	if len(s.decoders) > 0 {
		return len(s.decoders)
	}
	return len(s.readers)
}
