package serve

import "time"

// sample is what one instance looks like during a step.
type sample struct{ running, waiting, fill float64 }

// timeline gathers a run in at most lines stretches of equal length: when time
// passes the last one, neighbours are joined and the length doubles, so that a
// run of any length keeps its shape.
type timeline struct {
	width time.Duration
	bins  []bin
}

type bin struct {
	running, waiting, fill float64 // integrals over time in seconds, summed over instances
	tokens                 float64
	busy                   float64 // seconds
}

const (
	lines      = 128
	firstWidth = time.Millisecond
)

// at is the index of time t's stretch.
func (l *timeline) at(t time.Duration) int {
	if l.width == 0 {
		l.width = firstWidth
	}
	for t/l.width >= lines {
		for i := range l.bins {
			b := l.bins[i]
			if i%2 == 0 {
				l.bins[i/2] = b
			} else {
				l.bins[i/2].add(&b)
			}
		}
		l.bins = l.bins[:(len(l.bins)+1)/2]
		l.width *= 2
	}
	i := int(t / l.width)
	for len(l.bins) <= i {
		l.bins = append(l.bins, bin{})
	}
	return i
}

func (b *bin) add(o *bin) {
	b.running, b.waiting, b.fill = b.running+o.running, b.waiting+o.waiting, b.fill+o.fill
	b.tokens, b.busy = b.tokens+o.tokens, b.busy+o.busy
}

// stretch adds a step from now on that lasts d.
func (l *timeline) stretch(now, d time.Duration, s sample) {
	end := now + d
	l.at(end)
	for t := now; t < end; {
		i := l.at(t)
		part := min(end, time.Duration(i+1)*l.width) - t
		x := part.Seconds()
		l.bins[i].add(&bin{running: s.running * x, waiting: s.waiting * x, fill: s.fill * x, busy: x})
		t += part
	}
}

// tokens adds tokens that came at now, as the end of a step: a stretch holds
// what came after its start and up to its end.
func (l *timeline) tokens(now time.Duration, n int) { l.bins[l.at(now-1)].tokens += float64(n) }

// Moment is one stretch of a run, means over it.
type Moment struct {
	From    time.Duration
	Running float64 // sequences in steps, all instances
	Waiting float64
	KV      float64 // share of the blocks held, mean over instances
	Output  float64 // tokens per second
	Busy    float64 // share of the instances' time in steps
}

// moments are the stretches up to end, over so many instances.
func (l *timeline) moments(end time.Duration, instances int) []Moment {
	var out []Moment
	for i, b := range l.bins {
		from := time.Duration(i) * l.width
		if from >= end {
			break
		}
		x := (min(end, from+l.width) - from).Seconds()
		n := float64(instances)
		out = append(out, Moment{From: from, Running: b.running / x, Waiting: b.waiting / x, KV: b.fill / x / n, Output: b.tokens / x, Busy: b.busy / x / n})
	}
	return out
}
