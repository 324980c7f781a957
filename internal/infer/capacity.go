package infer

import "math"

// Capacity is what a service gives with its places full: beyond it requests only
// wait. The closed form and the event simulation both state it.
type Capacity struct {
	Clients     float64 // requests in flight at which queueing takes over: those that generate or are read
	Concurrency float64 // of these, how many generate at once, mean
	Requests    float64 // answers per second
	Output      float64 // tokens per second
}

// Times is the capacity of so many instances side by side.
func (c Capacity) Times(instances int) Capacity {
	n := float64(instances)
	return Capacity{c.Clients * n, c.Concurrency * n, c.Requests * n, c.Output * n}
}

// crowd is how many times the sequences that an instance may hold are sent to fill it.
const crowd = 2

// Saturate is the capacity of the instance for requests like the load's, whatever the
// load's own concurrency: a closed loop of more clients than it takes. By Little's law
// those who do not wait are rate x (own time to the first token + answer).
func Saturate(e *Engine, l *Load) (Capacity, error) {
	full := *l
	full.Concurrency, full.Fixed = 1, false
	if _, err := Steady(e, &full); err != nil {
		return Capacity{}, err
	}
	held, _ := newSteady(e, &full).held()
	full.Concurrency = int64(math.Ceil(crowd*held)) + 1
	p, err := Steady(e, &full)
	if err != nil {
		return Capacity{}, err
	}
	own := float64(p.E2E - p.Queue - e.profile.Entry(l.ISL))
	return Capacity{Clients: min(p.Requests*own, held), Concurrency: p.Decoding, Requests: p.Requests, Output: p.Output}, nil
}
