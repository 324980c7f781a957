package des

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// take empties a queue.
func take[E any](q *Queue[E]) (all []E) {
	for {
		e, ok := q.Take()
		if !ok {
			return all
		}
		all = append(all, e)
	}
}

func put[E any](t *testing.T, q *Queue[E], at time.Duration, priority int, e E) {
	t.Helper()
	if err := q.Put(at, priority, e); err != nil {
		t.Fatal(err)
	}
}

// Time decides, then priority, then who came first.
func TestTieOrder(t *testing.T) {
	var q Queue[string]
	put(t, &q, 2, 0, "later")
	put(t, &q, 1, 1, "low, put first")
	put(t, &q, 1, 0, "high, put first")
	put(t, &q, 1, 1, "low, put second")
	put(t, &q, 1, 0, "high, put second")
	put(t, &q, 0, 9, "now")
	want := []string{"now", "high, put first", "high, put second", "low, put first", "low, put second", "later"}
	if diff := gocmp.Diff(want, take(&q)); diff != "" {
		t.Error(diff)
	}
}

// An event may put another at the same nanosecond: it comes after those of its
// priority that wait already, and before those of a higher number.
func TestEventsAtTheClock(t *testing.T) {
	var q Queue[int]
	put(t, &q, 5, 0, 1)
	put(t, &q, 5, 0, 2)
	put(t, &q, 5, 1, 4)
	if first, _ := q.Take(); first != 1 {
		t.Fatalf("first is %d", first)
	}
	put(t, &q, 5, 0, 3)
	if diff := gocmp.Diff([]int{2, 3, 4}, take(&q)); diff != "" {
		t.Error(diff)
	}
}

func TestThePastIsRefused(t *testing.T) {
	var q Queue[int]
	put(t, &q, 10, 0, 1)
	q.Take()
	if err := q.Put(9, 0, 2); err == nil || len(q.heap) != 0 || q.Now() != 10 {
		t.Errorf("error %v, %d waiting, clock %v", err, len(q.heap), q.Now())
	}
	if _, ok := q.Take(); ok || q.Now() != 10 {
		t.Errorf("an empty queue moved the clock to %v", q.Now())
	}
}

// Whatever is put in, in whatever order, comes out sorted by (time, priority,
// sequence), each event once, and the clock never goes back.
func FuzzQueue(f *testing.F) {
	f.Add(uint64(1), 10)
	f.Add(uint64(2), 1000)
	f.Fuzz(func(t *testing.T, seed uint64, n int) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var q Queue[entry[struct{}]]
		var got []entry[struct{}]
		last, sequence := time.Duration(0), uint64(0)
		for range min(max(n, 0), 2000) {
			if rng.IntN(3) > 0 {
				e := entry[struct{}]{at: q.Now() + time.Duration(rng.IntN(5)), priority: rng.IntN(3), sequence: sequence}
				sequence++
				put(t, &q, e.at, e.priority, e)
				continue
			}
			if e, ok := q.Take(); ok {
				got = append(got, e)
				if e.at != q.Now() || q.Now() < last {
					t.Fatalf("event of %v taken at %v after %v", e.at, q.Now(), last)
				}
				last = q.Now()
			}
		}
		rest := take(&q)
		sorted := slices.IsSortedFunc(rest, func(a, b entry[struct{}]) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.priority, b.priority), cmp.Compare(a.sequence, b.sequence))
		})
		if !sorted || len(got)+len(rest) != int(sequence) {
			t.Errorf("sorted %v, %d of %d events came out", sorted, len(got)+len(rest), sequence)
		}
	})
}

func BenchmarkQueue(b *testing.B) {
	var q Queue[int]
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 1024 {
		_ = q.Put(time.Duration(rng.IntN(1024)), 0, i)
	}
	b.ReportAllocs()
	for b.Loop() {
		e, _ := q.Take()
		_ = q.Put(q.Now()+time.Duration(rng.IntN(1024)), 0, e)
	}
}
