package serve

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// checkInvariants holds after every event.
func checkInvariants(t *testing.T, s *simulation) {
	t.Helper()
	running, waiting, blocksUsed := 0, s.waiting(), 0
	for _, in := range append(append([]*instance{}, s.readers...), s.decoders...) {
		for _, r := range in.ranks {
			running += len(r.running)
			checkPool(t, r)
			blocksUsed += r.pool.used()
			if len(r.running) > r.engine.MaxSeqs {
				t.Fatalf("%d sequences run, %d may", len(r.running), r.engine.MaxSeqs)
			}
		}
	}
	if f := s.flow; f.Arrived != f.Done+f.Dropped+waiting+running+f.Moving {
		t.Fatalf("%d requests came: %d done, %d dropped, %d wait, %d run, %d move", f.Arrived, f.Done, f.Dropped, waiting, running, f.Moving)
	}
}

// checkPool: blocks held, listed and empty sum to the capacity; what sequences
// that run hold is held once each, and suffices for their tokens; what is set aside is free.
func checkPool(t *testing.T, r *rank) {
	t.Helper()
	p := r.pool
	listed := 0
	for e := p.list.next; e != &p.list; e = e.next {
		listed += e.blocks
		if e.holders != 0 || e.blocks < 1 {
			t.Fatalf("a listed extent has %d holders and %d blocks", e.holders, e.blocks)
		}
	}
	if listed != p.listed || p.free < listed || p.free > p.capacity {
		t.Fatalf("%d blocks listed, %d counted, %d free of %d", listed, p.listed, p.free, p.capacity)
	}
	held, due, seen := 0, 0, map[*extent]bool{}
	for _, s := range r.running {
		held += s.held.own
		due += s.held.due
		if r.engine.Reserve == infer.ReserveAnswer && s.record.Preempted > 0 {
			t.Fatalf("a sequence was thrown out though room for its answer was set aside")
		}
		for _, e := range s.held.shared {
			if !seen[e] {
				seen[e] = true
				held += e.blocks
			}
		}
		if s.held.blocks*p.size < s.computed {
			t.Fatalf("%d tokens in %d blocks", s.computed, s.held.blocks)
		}
	}
	if !r.in.prefill && due != p.promised || p.promised > p.free {
		t.Fatalf("%d blocks are set aside, %d counted, %d free", due, p.promised, p.free)
	}
	if !r.in.prefill && held != p.used() {
		t.Fatalf("sequences hold %d blocks, %d are in use", held, p.used())
	}
}

// anyService and anyLoad are random but sound.
func anyService(rng *rand.Rand) *Service {
	one := func() Engine {
		e := Engine{Stepper: linear{step: 1e-3, prompt: 1e-5, decode: 1e-4, context: 1e-7}, Ranks: 1 + rng.IntN(3), MaxSeqs: 1 + rng.IntN(6),
			BlockSize: []int{1, 2, 4}[rng.IntN(3)], PrefixCache: rng.IntN(2) == 0, Reserve: infer.Reservation(rng.IntN(3)),
			Priority: rng.IntN(2) == 0, Ahead: rng.IntN(2) == 0, Separate: rng.IntN(3) == 0, Entry: time.Duration(rng.IntN(2)) * time.Millisecond,
			Admission: float64(rng.IntN(3)) * 1.7}
		e.Blocks = 10 + rng.IntN(40)
		drafts := rng.IntN(3)
		if drafts > 0 {
			e.Speculation = &infer.Speculation{Drafter: infer.MTP, Drafts: drafts, Accept: []float64{0.7, 0.4}[:drafts]}
		}
		e.MaxTokens = e.MaxSeqs*(1+drafts) + rng.IntN(20)
		return e
	}
	s := &Service{Engine: one(), Instances: 1 + rng.IntN(3), Routing: Routing(rng.IntN(2))}
	if rng.IntN(3) == 0 {
		d := one()
		s.Decode, s.DecodeInstances = &d, 1+rng.IntN(2)
		s.Transfer = func(n int) time.Duration { return time.Duration(n) * time.Microsecond }
	}
	return s
}

func anyLoad(rng *rand.Rand) *workload.Workload {
	w := &workload.Workload{BlockTokens: 4}
	if rng.IntN(2) == 0 {
		w.Concurrency = 1 + rng.IntN(12)
	}
	at := time.Duration(0)
	for range 1 + rng.IntN(60) {
		r := workload.Request{At: at, Input: 1 + rng.IntN(40), Output: 1 + rng.IntN(20), Priority: rng.IntN(3)}
		// Ids are a path in a small tree of prefixes.
		id := uint64(1)
		for range (r.Input + 3) / 4 {
			id = id*3 + uint64(rng.IntN(2))
			r.Blocks = append(r.Blocks, id)
		}
		w.Requests = append(w.Requests, r)
		at += time.Duration(rng.IntN(3)) * time.Millisecond
	}
	return w
}

// Whatever the engine and the load, every event keeps the books: requests in are
// done, queued, running, moving or dropped, blocks never pass the capacity, the
// clock never goes back; and at the end every token asked for was given once, in
// order, and all blocks are free.
func FuzzRun(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 1))
		service, load := anyService(rng), anyLoad(rng)
		s, err := newSimulation(service, load, Options{Seed: seed, Tokens: true})
		if err != nil {
			t.Fatal(err)
		}
		last := time.Duration(0)
		for n := 0; ; n++ {
			e, ok := s.clock.Take()
			if !ok {
				break
			}
			if s.clock.Now() < last || n > 1e6 {
				t.Fatalf("event %d at %v after %v", n, s.clock.Now(), last)
			}
			last = s.clock.Now()
			if err := s.handle(e); err != nil {
				t.Fatal(err)
			}
			checkInvariants(t, s)
		}
		checkEnd(t, s)
		again := run(t, service, load, Options{Seed: seed, Tokens: true})
		if diff := cmp.Diff(s.records, again.Records); diff != "" {
			t.Errorf("the same seed gives another run: %s", diff)
		}
	})
}

func checkEnd(t *testing.T, s *simulation) {
	t.Helper()
	var output int64
	for i := range s.records {
		r := &s.records[i]
		output += int64(r.Generated)
		if r.Outcome == workload.Dropped {
			continue
		}
		if r.Outcome != workload.Done || r.Generated != r.Output || len(r.Tokens) != r.Output {
			t.Fatalf("request %d ended as %v with %d of %d tokens at %d times", i, r.Outcome, r.Generated, r.Output, len(r.Tokens))
		}
		if !(r.Scheduled <= r.Queued && r.Queued <= r.Started && r.Started < r.First && r.First <= r.Last) || r.Tokens[0] != r.First || r.Tokens[len(r.Tokens)-1] != r.Last {
			t.Fatalf("request %d out of order: %+v", i, r)
		}
	}
	if output != s.flow.Output || s.flow.underway() != 0 {
		t.Errorf("%d tokens given, %d in records", s.flow.Output, output)
	}
	for _, in := range append(append([]*instance{}, s.readers...), s.decoders...) {
		if used, _ := in.kv(); used != 0 {
			t.Errorf("%d blocks are still held", used)
		}
		for _, r := range in.ranks {
			if r.load != 0 {
				t.Errorf("the router counts %d requests at an idle rank", r.load)
			}
		}
	}
}

// In a closed loop served in order, more KV blocks, more places, more instances
// never lower the throughput.
func TestMoreCapacityNeverLowersThroughput(t *testing.T) {
	w, err := (&workload.Synthetic{Input: workload.Length{Low: 20, High: 60}, Output: workload.Length{Low: 20, High: 60}, Concurrency: 16, Requests: 400}).Generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, grow := range map[string]func(s *Service, n int){
		"blocks":    func(s *Service, n int) { s.Engine.Blocks = 32 * n },
		"places":    func(s *Service, n int) { s.Engine.MaxSeqs = n },
		"replicas":  func(s *Service, n int) { s.Engine.Ranks = n },
		"instances": func(s *Service, n int) { s.Instances = n },
	} {
		last := 0.0
		for n := 1; n <= 16; n *= 2 {
			e := engine(linear{step: 5e-3, prompt: 1e-5, decode: 1e-5, context: 1e-7})
			e.MaxSeqs, e.MaxTokens = 16, 128
			s := &Service{Engine: e}
			grow(s, n)
			rate := run(t, s, w, Options{}).Whole.OutputRate
			if rate < last {
				t.Errorf("%d %s: %.1f tokens/s, fewer than with half of them: %.1f", n, name, rate, last)
			}
			last = rate
		}
	}
}

// A cancelled run keeps what was simulated, and its books.
func TestCancelledRunIsPartial(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	w, err := (&workload.Synthetic{Input: workload.Length{Low: 20, High: 60}, Output: workload.Length{Low: 20, High: 60}, Concurrency: 4, Requests: 4000}).Generate()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(ctx, &Service{Engine: engine(ms(1))}, w, Options{Progress: func(done, all int) {
		if done > all/2 {
			cancel()
		}
	}})
	if err != nil || !r.Partial || r.Done < 2000 || r.Done == 4000 || r.Arrived != r.Done+r.Unfinished || len(r.Records) != r.Arrived {
		t.Errorf("%v, %+v", err, r)
	}
}
