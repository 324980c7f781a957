package wire

import "time"

// Where pieces come thick a loop naps before it asks for more, as drivers of networks hold
// interrupts back: to wake for each piece costs more than to read it. A nap moves no time that is told,
// since the system stamps the pieces; but two of one connection that are read at once share a stamp, and
// whoever waits for a piece gets it later. So a nap is a small part of the time between pieces of one connection.
const (
	part     = 16                     // naps in that time
	longest  = 3 * time.Millisecond   // nap
	shortest = 250 * time.Microsecond // that gathers more than it costs
	row      = 8                      // turns that a nap would have made one, before the first
)

// pace decides about naps.
type pace struct{ close int } // turns in a row that came thick

// nap is how long to nap before the next turn, 0 where it waits for the next piece.
func (p *pace) nap(r *reader) time.Duration {
	d := min(r.between.usual/part, longest)
	if p.close < row || d < shortest {
		return 0
	}
	return d
}

// turn learns of a turn that began so long after the one before had ended, or after a nap. Where a nap
// gathers less than two pieces there are no more of them.
func (p *pace) turn(napped bool, after time.Duration, r *reader) {
	switch {
	case !r.told || napped && r.pieces < 2:
		p.close = 0
	case napped:
	case r.pieces > 0 && after <= longest:
		p.close++
	default:
		p.close = 0
	}
}

// gaps follows the time between pieces of one connection.
type gaps struct{ usual time.Duration } // a tenth of them are shorter

// add moves the mark by a 16th where a gap is shorter, by a ninth of that where it is longer: so it comes
// to rest where one of ten is shorter. No gap moves it more than another, however long a connection was silent.
func (g *gaps) add(gap time.Duration) {
	const down, up = 16, 16 * 9
	if gap < g.usual {
		g.usual = max(g.usual-g.usual/down, shortest)
	} else {
		g.usual = min(g.usual+g.usual/up, time.Second)
	}
}
