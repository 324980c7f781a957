package infer

import (
	"cmp"
	"math"
	"sort"
)

// Capacity is what a service gives with its places full: beyond it requests only
// wait. The closed form and the event simulation both state it.
type Capacity struct {
	// Clients is where queueing takes over: the most requests in flight of which none
	// waits because cache, sequence slots or the reading of prompts are used up. With
	// more the service answers no more per second.
	Clients     float64
	Concurrency float64 // how many generate at once at that rate, mean
	Requests    float64 // answers per second, at most
	Output      float64 // tokens per second
}

// Times is the capacity of so many instances side by side.
func (c Capacity) Times(instances int) Capacity {
	n := float64(instances)
	return Capacity{c.Clients * n, c.Concurrency * n, c.Requests * n, c.Output * n}
}

// crowd is how many times the sequences that an instance may hold are sent to fill it: so
// many that the wait for admission, steps of others, leaves no place empty.
const crowd = 1000

// Saturate is the capacity of the instance for requests like the load's, whatever the
// load's own concurrency: the most clients whose Point has no Limit, and rates of that
// many or of more than it takes, which are fewer where a full cache throws sequences out.
func Saturate(e *Engine, l *Load) (Capacity, error) {
	full := *l
	full.Concurrency = 1
	if _, err := Steady(e, &full); err != nil {
		return Capacity{}, err
	}
	s := newSteady(e, &full)
	held, _ := s.held()
	full.Concurrency = int64(math.Ceil(crowd*held)) + 1
	p := s.solve()
	generating := p.Decoding
	if s.steps > 0 && e.profile.Separate {
		// Places that come free in a step are filled one after the other before the next.
		generating *= 1 - 1/(2*max(s.steps, 1))
	}
	best := p // of the crowd, and of the loads up to it that are looked at
	var failed error
	queues := func(clients int64) bool {
		full.Concurrency = clients
		x, err := Steady(e, &full)
		failed = cmp.Or(failed, err)
		if x.Requests > best.Requests {
			best, generating = x, x.Decoding
		}
		return x.Limit != NoLimit
	}
	most := int(held)
	if queues(int64(most)) { // places are left, the reading of prompts is used up
		most = max(1, sort.Search(most-1, func(i int) bool { return queues(int64(i) + 1) }))
	}
	return Capacity{Clients: float64(most), Concurrency: generating, Requests: best.Requests, Output: best.Output}, failed
}
