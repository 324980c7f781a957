package bench

import (
	"slices"
	"time"
)

// The rule of the steady window: the longest stretch in which at least nine
// tenths of the most requests that were ever in flight are in flight. Dips
// shorter than a hundredth of the stage are bridged: between an answer's end and
// the next request a closed loop of one has nothing in flight.
const (
	steadyShare = 0.9
	steadyDip   = 0.01
)

// level is the number in flight from a time on.
type level struct {
	at Timestamp
	n  int
}

// levels is how many requests are in flight over time.
func levels(records []*Record) []level {
	type edge struct {
		at Timestamp
		by int
	}
	var edges []edge
	for _, r := range records {
		if r.Dispatched > 0 && r.End > r.Dispatched {
			edges = append(edges, edge{r.Dispatched, 1}, edge{r.End, -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int {
		if a.at != b.at {
			return int(min(max(a.at-b.at, -1), 1))
		}
		return b.by - a.by // a start first: the request that follows an end at once leaves no dip
	})
	var list []level
	n := 0
	for _, e := range edges {
		n += e.by
		if k := len(list); k > 0 && list[k-1].at == e.at {
			list[k-1].n = n
		} else {
			list = append(list, level{e.at, n})
		}
	}
	return list
}

// Steady is the steady window of the records; ok is false where there is none.
// Requests of the warm-up count as load, for they are.
func Steady(records []*Record) (w Span, ok bool) {
	list := levels(records)
	if len(list) == 0 {
		return w, false
	}
	peak := 0
	for _, l := range list {
		peak = max(peak, l.n)
	}
	all := list[len(list)-1].at - list[0].at
	dip := time.Duration(float64(all) * steadyDip)
	var best, current Span
	open := false
	for i, l := range list {
		high := float64(l.n) >= steadyShare*float64(peak)
		end := l.at
		if i+1 < len(list) {
			end = list[i+1].at
		}
		switch {
		case high && open && l.at-current.To <= dip:
			current.To = end
		case high:
			current, open = Span{l.at, end}, true
		}
		if open && current.length() > best.length() {
			best = current
		}
	}
	return best, best.length() > 0
}

// moments is how many intervals a time line has at most.
const moments = 100

// Timeline cuts a span into equal intervals of whole tenths of a second.
func Timeline(records []*Record, span Span) []Moment {
	const grain = 100 * time.Millisecond
	step := span.length() / moments
	step = max(grain, (step+grain-1)/grain*grain)
	n := int((span.length() + step - 1) / step)
	if n < 1 {
		return []Moment{}
	}
	list := make([]Moment, n)
	first := make([][]float64, n)
	at := func(t Timestamp) int {
		if t < span.From || t > span.To {
			return -1
		}
		return min(int((t-span.From)/step), n-1)
	}
	for _, r := range records {
		for i := range list {
			from := span.From + time.Duration(i)*step
			list[i].InFlight += r.life().overlap(Span{from, from + step}).Seconds() / step.Seconds()
		}
		if i := at(r.Dispatched); i >= 0 {
			list[i].Sent++
		}
		if i := at(r.End); i >= 0 {
			if r.Outcome == OK {
				list[i].Done++
			} else if r.Outcome != Cancelled {
				list[i].Failed++
			}
		}
		r.spread(list, at)
		if t, ok := r.first(); ok && at(t) >= 0 {
			if d, ok := r.TTFT(Service); ok {
				first[at(t)] = append(first[at(t)], milliseconds(d))
			}
		}
	}
	for i := range list {
		list[i].At = min(span.From+time.Duration(i+1)*step, span.To).Seconds()
		if d := NewDist(first[i]); d.N > 0 {
			list[i].TTFT = &d.P50
		}
	}
	return list
}

// spread adds an answer's tokens to the intervals in which they came.
func (r *Record) spread(list []Moment, at func(Timestamp) int) {
	n, _ := r.Tokens()
	given := 0
	for k, c := range r.Chunks {
		// Whole tokens by the share of chunks so far, so that they sum to n.
		upTo := n * (k + 1) / len(r.Chunks)
		if i := at(c.At); i >= 0 {
			list[i].Tokens += upTo - given
		}
		given = upTo
	}
}
