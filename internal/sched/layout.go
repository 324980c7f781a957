package sched

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// Layout is a pipeline laid out in time, from the first start of rank 0.
type Layout struct {
	Kind Kind
	// Step is the time from one step to the next. For zb-h1, zb-h2, zb-1p, zb-2p
	// and zb-v it is the longest time that a rank takes from its first start to
	// its last end, since ranks enter the next step each at its own time
	// (optimizer validated afterwards, arXiv:2401.10241 section 4); otherwise End.
	Step unit.Seconds
	// End is when the last pass of any rank ends: the step of a run whose
	// optimizer waits for all ranks.
	End unit.Seconds
	// Ranks lists the passes of every rank in the order they run.
	Ranks [][]Placed
	// PeakInFlight is, per rank, the most chunks of micro-batches held at once: from
	// the start of F to the end of B, or of W where the backward is split.
	PeakInFlight []int
	// PeakChunks is PeakInFlight by local chunk (Kind.ChunkAt) when the rank holds
	// the most for the first time.
	PeakChunks [][]int
	// PeakActivations is the most held per rank in micro-batches of a stage, 1/stages
	// of the model: chunks held over vpp (or the 2 of a V), one that waits for its W
	// counting WeightShare.
	PeakActivations []float64
	work            unit.Seconds // all passes of all ranks, without what pairs save
}

// Placed is one pass with its time.
type Placed struct {
	Pass              Pass
	Full              bool // a B that includes the weight gradient
	Chunk, MicroBatch int
	// BackChunk and BackMicroBatch belong to the backward half of an FB.
	BackChunk, BackMicroBatch int
	Start, End                unit.Seconds
}

// Lay lays out a pipeline. It fails for a Spec that is not valid, in one line.
func Lay(s *Spec) (*Layout, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	m := simulators.Get().(*simulator)
	defer simulators.Put(m)
	if err := m.price(s); err != nil {
		return nil, err
	}
	p, order, err := programOf(s)
	if err != nil {
		return nil, err
	}
	if order == nil {
		order = lists(s)
	}
	m.run(p)
	l := &Layout{Kind: s.Kind, Step: m.step(p, s.Kind.staggered()), End: m.step(p, false), Ranks: m.place(s, p, order)}
	for _, list := range order {
		n, chunks, weighted := peak(list, p.locals, s.share())
		weighted /= float64(len(s.Times.F)) / float64(s.Stages)
		l.PeakInFlight = append(l.PeakInFlight, n)
		l.PeakChunks = append(l.PeakChunks, chunks)
		l.PeakActivations = append(l.PeakActivations, weighted)
	}
	for c := range s.Times.F {
		l.work += unit.Seconds(s.MicroBatches) * (s.Times.F[c] + s.Times.B[c] + s.Times.W[c])
	}
	return l, nil
}

// place gives every item of the lists the times that run found.
func (m *simulator) place(s *Spec, p *program, order [][]item) [][]Placed {
	ranks := make([][]Placed, s.Stages)
	for r := range ranks {
		ranks[r] = make([]Placed, 0, len(order[r]))
	}
	clear(m.free)
	for i, o := range p.ops {
		if i == 0 {
			continue
		}
		t := m.slots[o.slot]
		r := int(t.rank)
		start := max(m.free[r], m.end[o.dep]+t.delay)
		m.free[r] = m.end[i]
		if o.slot%numDo == doGate {
			continue
		}
		it := order[r][len(ranks[r])]
		x := Placed{Pass: it.pass, Full: it.full && it.pass == B, MicroBatch: int(it.mb), Start: start, End: m.end[i],
			Chunk: s.Kind.ChunkAt(r, int(it.local), s.Stages)}
		if it.pass == FB {
			x.BackChunk, x.BackMicroBatch = s.Kind.ChunkAt(r, 1-int(it.local), s.Stages), int(it.mc)
		}
		ranks[r] = append(ranks[r], x)
	}
	return ranks
}

// peak walks a rank's list and counts what it holds at its fullest: chunks of
// micro-batches, the same by local chunk, and weighted by share.
func peak(list []item, locals int, share float64) (n int, chunks []int, weighted float64) {
	held, half, total := make([]int, locals), 0, 0 // half: waiting for their W
	for _, it := range list {
		switch it.pass {
		case F, FB: // a pair holds both halves while it runs
			held[it.local]++
			total++
			if total > n {
				n, chunks = total, append(chunks[:0], held...)
			}
			weighted = max(weighted, float64(total-half)+share*float64(half))
			if it.pass == FB {
				held[1-it.local]--
				total--
			}
		case B:
			if it.full {
				held[it.local]--
				total--
			} else {
				half++
			}
		case W:
			held[it.local]--
			total--
			half--
		}
	}
	return n, chunks, weighted
}

// BubbleRate is the share of the step in which the mean rank does nothing:
// 1 - m (f + b + w) / step (arXiv:2401.10241 section 5.1), with f, b and w the
// mean over the ranks where stages differ. Overlapped pairs count as the work
// they would be apart, so the rate of DualPipe falls, even below 0, when fb is
// shorter than f + b + w.
func (l *Layout) BubbleRate() float64 {
	if l.Step == 0 {
		return 0
	}
	rate := 1 - float64(l.work)/float64(len(l.Ranks))/float64(l.Step)
	if math.Abs(rate) <= l.rounding() {
		return 0
	}
	return rate
}

// rounding is the relative error that adding up as many times as the layout has
// passes may have (Higham, Accuracy and Stability of Numerical Algorithms, section
// 4.2): a rate that is no larger is none.
func (l *Layout) rounding() float64 {
	const epsilon = 0x1p-52 // between 1 and the next float64
	n := 0
	for _, list := range l.Ranks {
		n += len(list)
	}
	return float64(n) * epsilon
}

// Idle is the time of a step in which a rank runs no pass.
func (l *Layout) Idle(rank int) unit.Seconds {
	idle := l.Step
	for _, x := range l.Ranks[rank] {
		idle -= x.End - x.Start
	}
	if math.Abs(float64(idle)) <= l.rounding()*float64(l.Step) {
		return 0
	}
	return idle
}
