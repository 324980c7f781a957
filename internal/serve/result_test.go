package serve

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ridgeline/ridgeline/internal/workload"
)

// Percentiles by the nearest rank.
func TestDistribution(t *testing.T) {
	var times []time.Duration
	for i := 200; i > 0; i-- {
		times = append(times, time.Duration(i)*time.Second)
	}
	want := Dist{N: 200, Mean: 100.5, P50: 100, P90: 180, P95: 190, P99: 198, Min: 1, Max: 200}
	if diff := cmp.Diff(want, distOf(times)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Dist{N: 1, Mean: 3, P50: 3, P90: 3, P95: 3, P99: 3, Min: 3, Max: 3}, distOf([]time.Duration{3e9})); diff != "" {
		t.Error(diff)
	}
	// Two levels, three quarters of the time at 1 and one at 3.
	if diff := cmp.Diff(Dist{N: 1, Mean: 1.5, P50: 1, P90: 3, P95: 3, P99: 3, Min: 1, Max: 3}, overTime([]time.Duration{0, 3e9, 0, 1e9}, 1)); diff != "" {
		t.Error(diff)
	}
	if d := distOf(nil); d.N != 0 || overTime(make([]time.Duration, 3), 1).N != 0 {
		t.Error("nothing has a distribution")
	}
}

// The gaps of a run are those between the tokens of its records.
func TestGapsAreThoseOfTheRecords(t *testing.T) {
	e := engine(linear{step: 5e-3, prompt: 1e-5, context: 1e-7})
	e.Blocks = 40 // some lose their cache and wait
	w := closed(t, 30, 30, 8, 100)
	r := run(t, &Service{Engine: e}, w, Options{Tokens: true})
	var gaps []time.Duration
	for i := range r.Records {
		ts := r.Records[i].Tokens
		for k := 1; k < len(ts); k++ {
			gaps = append(gaps, ts[k]-ts[k-1])
		}
	}
	if r.Preemptions == 0 {
		t.Error("the test is about preempted requests too")
	}
	if diff := cmp.Diff(distOf(gaps), r.Whole.ITL, cmpopts.EquateApprox(0.001, 0)); diff != "" {
		t.Error(diff)
	}
}

// Start-up, steady stretch and drain of a closed loop: the first users are all
// answered before the steady stretch starts, and it ends with the last arrival.
func TestSteadyStretch(t *testing.T) {
	r := run(t, &Service{Engine: engine(ms(10))}, closed(t, 20, 20, 8, 200), Options{})
	s := r.Steady
	if s == nil {
		t.Fatal("200 requests of 8 users hold no steady stretch")
	}
	late := time.Duration(0)
	for i := range 8 {
		late = max(late, r.Records[i].Last)
	}
	if s.From != late || s.To != r.Records[199].Queued {
		t.Errorf("steady from %v to %v, want %v to %v", s.From, s.To, late, r.Records[199].Queued)
	}
	// Little's law: users = answers per second x (time to answer).
	if users := s.RequestRate * s.E2E.Mean; math.Abs(users/8-1) > 0.05 {
		t.Errorf("%.2f users by Little's law, 8 there are", users)
	}
	if len := run(t, &Service{Engine: engine(ms(10))}, closed(t, 20, 20, 8, 16), Options{}); len.Steady != nil {
		t.Error("16 requests of 8 users hold a steady stretch")
	}
}

// openLoad is Poisson arrivals of 20 + 20 tokens.
func openLoad(t *testing.T, rate float64, n int) *workload.Workload {
	t.Helper()
	w, err := (&workload.Synthetic{Input: workload.Length{Low: 16, High: 24}, Output: workload.Length{Low: 16, High: 24}, Requests: n,
		Arrival: workload.Arrival{Process: workload.Poisson, Rate: rate, Variation: 1}}).Generate()
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Below capacity no overload is seen, above it is, whatever the seed; the
// capacity is the load at which requests begin to wait for a place.
func TestOverloadAndCapacity(t *testing.T) {
	s := &Service{Engine: engine(ms(10))}
	c, err := Saturate(context.Background(), s, openLoad(t, 1, 100), 0)
	if err != nil {
		t.Fatal(err)
	}
	// Eight places, 20 steps of 10 ms per answer, the first of which reads the prompt
	// of 20 tokens, of 64 in a step.
	if math.Abs(c.Requests/40-1) > 0.06 || math.Abs(c.Clients/8-1) > 0.06 || math.Abs(c.Concurrency/(8*19./20)-1) > 0.06 {
		t.Errorf("%+v, want about 40 answers per second of 8 places", c)
	}
	for _, x := range []struct {
		share float64
		over  bool
	}{{0.3, false}, {0.7, false}, {0.9, false}, {1.3, true}, {2, true}} {
		r := run(t, s, openLoad(t, x.share*c.Requests, 3000), Options{})
		if (r.Overload != "") != x.over {
			t.Errorf("at %.0f %% of the capacity: overload %q", 100*x.share, r.Overload)
		}
	}
}

// Answers within the SLO are counted; what misses it is named.
func TestGoodput(t *testing.T) {
	e := engine(ms(10))
	e.MaxSeqs = 1
	slo := SLO{TTFT: 50 * time.Millisecond, TPOT: 10 * time.Millisecond}
	// Answered after 10, 60 and 110 ms: each has 5 tokens of 10 ms.
	r := run(t, &Service{Engine: e}, requests([3]int{0, 4, 5}, [3]int{0, 4, 5}, [3]int{0, 4, 5}), Options{SLO: slo})
	if r.Whole.GoodShare != 1./3 || math.Abs(r.Whole.Goodput-1/0.15) > 1e-9 {
		t.Errorf("good share %g, goodput %g", r.Whole.GoodShare, r.Whole.Goodput)
	}
	for _, c := range []struct {
		slo  SLO
		at   Statistic
		want string
	}{
		{SLO{}, P99, ""},
		{SLO{TTFT: 60 * time.Millisecond}, Mean, ""},
		{SLO{TTFT: 59 * time.Millisecond}, Mean, "mean ttft is 60.00 ms, above 59.00 ms"},
		{SLO{TTFT: 60 * time.Millisecond}, P99, "p99 ttft is 110.0 ms, above 60.00 ms"},
		{SLO{TPOT: 9 * time.Millisecond}, P50, "p50 tpot is 10.00 ms, above 9.000 ms"},
		{slo, Mean, "mean ttft is 60.00 ms, above 50.00 ms"},
	} {
		if got := r.Missed(c.slo, c.at); got != c.want {
			t.Errorf("%+v at %v: %q, want %q", c.slo, c.at, got, c.want)
		}
	}
}

// A run of any length has at most so many stretches, and their tokens and busy
// time sum to the run's.
func TestTimelineKeepsSums(t *testing.T) {
	for _, n := range []int{1, 50, 2000} {
		r := run(t, &Service{Engine: engine(ms(10))}, closed(t, 20, 20, 8, n), Options{})
		tokens, busy, end := 0.0, 0.0, r.End.Seconds()
		for i, m := range r.Timeline {
			next := end
			if i+1 < len(r.Timeline) {
				next = r.Timeline[i+1].From.Seconds()
			}
			tokens += m.Output * (next - m.From.Seconds())
			busy += m.Busy * (next - m.From.Seconds())
		}
		if len(r.Timeline) > lines || math.Abs(tokens/float64(r.Output)-1) > 1e-9 || math.Abs(busy-r.Whole.Busy*end) > 1e-9*end {
			t.Errorf("%d requests: %d stretches, %g of %d tokens, %g s busy of %g", n, len(r.Timeline), tokens, r.Output, busy, r.Whole.Busy*end)
		}
	}
}
