package serve

import (
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/ridgeline/ridgeline/internal/workload"
)

// submitAll drives a live service as a client would: in order of arrival, and to
// the end.
func submitAll(t testing.TB, l *Live, w *workload.Workload) (all []workload.Record) {
	t.Helper()
	var records []*workload.Record
	for _, r := range w.Requests {
		rec, err := l.Submit(r.At, r)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, rec)
	}
	if err := l.Advance(time.Hour); err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		all = append(all, *r)
	}
	return all
}

// live starts a service and counts the tokens that it says it gave.
func live(t testing.TB, s *Service, w *workload.Workload) (*Live, map[*workload.Record]int) {
	t.Helper()
	given := map[*workload.Record]int{}
	l, err := NewLive(s, w.BlockTokens, Options{}, func(r *workload.Record, n int) { given[r] += n })
	if err != nil {
		t.Fatal(err)
	}
	return l, given
}

// Handing requests in one by one changes nothing: the records are Run's, for one
// engine and for two roles, with preemption, shared prompts and simultaneous
// arrivals.
func TestLiveIsRun(t *testing.T) {
	e := engine(linear{step: 1e-3, prompt: 1e-4, decode: 1e-5})
	e.Blocks, e.PrefixCache, e.Ahead, e.Entry = 40, true, true, 3*time.Millisecond
	load := requests([3]int{0, 20, 30}, [3]int{0, 24, 40}, [3]int{1, 24, 40}, [3]int{5, 30, 1}, [3]int{5, 9, 60}, [3]int{7, 100, 1000}, [3]int{300, 24, 9})
	load.BlockTokens = 4
	for i := range load.Requests {
		load.Requests[i].Blocks = []uint64{1, 2, uint64(i % 2), 9}
	}
	decode := e
	for name, s := range map[string]*Service{
		"one": {Engine: e}, "three": {Engine: e, Instances: 3, Routing: LeastLoaded},
		"roles": {Engine: e, Decode: &decode, DecodeInstances: 2, Transfer: func(int) time.Duration { return 2 * time.Millisecond }},
	} {
		t.Run(name, func(t *testing.T) {
			want := run(t, s, load, Options{})
			l, given := live(t, s, load)
			got := submitAll(t, l, load)
			if diff := gocmp.Diff(want.Records, got); diff != "" {
				t.Error(diff)
			}
			for r, n := range given {
				if n != r.Generated {
					t.Errorf("%d tokens were told of, %d given", n, r.Generated)
				}
			}
			st := l.State()
			if st.Output != want.Output || st.Preempted != want.Preemptions || st.Cached != want.Cached || st.Running+st.Waiting+st.KVUsed != 0 {
				t.Errorf("state %+v, run gave %d tokens, %d preemptions, %d cached", st, want.Output, want.Preemptions, want.Cached)
			}
		})
	}
}

// Whenever a user goes, the request gives everything back, the others end, and
// every request is accounted for.
func TestCancelGivesBack(t *testing.T) {
	e := engine(linear{step: 1e-3, prompt: 1e-4, decode: 1e-5})
	e.MaxSeqs, e.Blocks, e.PrefixCache, e.Ahead, e.Entry = 3, 30, true, true, 2*time.Millisecond
	decode := e
	roles := &Service{Engine: e, Decode: &decode, Transfer: func(int) time.Duration { return 4 * time.Millisecond }}
	load := requests([3]int{0, 20, 30}, [3]int{0, 90, 20}, [3]int{1, 24, 40}, [3]int{5, 30, 1}, [3]int{5, 9, 60}, [3]int{7, 50, 20})
	load.BlockTokens = 4
	for _, s := range []*Service{{Engine: e}, roles} {
		for who := range load.Requests {
			for after := time.Duration(0); after < 120*time.Millisecond; after += 500 * time.Microsecond {
				l, _ := live(t, s, load)
				var records []*workload.Record
				cancel := func(at time.Duration) {
					if err := l.Advance(at); err != nil {
						t.Fatal(err)
					}
					if err := l.Cancel(records[who]); err != nil {
						t.Fatal(err)
					}
				}
				at := load.Requests[who].At + after
				for i, r := range load.Requests {
					if i > who && at < r.At {
						cancel(at)
					}
					rec, err := l.Submit(r.At, r)
					if err != nil {
						t.Fatal(err)
					}
					records = append(records, rec)
				}
				if at >= load.Span() {
					cancel(at)
				}
				if err := l.Advance(time.Hour); err != nil {
					t.Fatal(err)
				}
				st := l.State()
				if st.Running != 0 || st.Waiting != 0 || st.KVUsed != 0 || st.Done+st.Cancelled != len(records) || st.Cancelled > 1 {
					t.Fatalf("request %d cancelled after %v: %+v", who, after, st)
				}
				for i, r := range records {
					if i != who && (r.Outcome != workload.Done || r.Generated != r.Output) {
						t.Fatalf("request %d cancelled after %v: request %d is %s with %d of %d tokens", who, after, i, r.Outcome, r.Generated, r.Output)
					}
				}
			}
		}
	}
}

// The clock never goes back.
func TestLiveRefusesThePast(t *testing.T) {
	w := requests([3]int{0, 4, 4})
	l, _ := live(t, &Service{Engine: engine(ms(1))}, w)
	submitAll(t, l, w)
	if _, err := l.Submit(0, w.Requests[0]); err == nil {
		t.Error("a request was submitted before the clock")
	}
}
