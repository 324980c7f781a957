package wire

import (
	"time"

	"golang.org/x/sys/unix"
)

// Where pieces come thick a loop naps before it asks for more, as drivers of networks hold
// interrupts back: to wake for each piece costs more than to read it. A nap moves no time that is told,
// since the system stamps the pieces; two of one connection would share their stamp if they were read
// at once, so no nap follows where one came soon after another.
const (
	nap   = 500 * time.Microsecond
	thick = 100 * time.Microsecond // between turns
	row   = 8                      // turns so close before the first nap
)

// pace decides about naps.
type pace struct{ close int } // turns in a row that came thick

// naps tells whether to nap before the next turn.
func (p *pace) naps() bool { return p.close >= row }

// turn learns of a turn that began so long after the one before had ended. Where a nap gathers less
// than two pieces there are no more naps.
func (p *pace) turn(napped bool, after time.Duration, r *reader) {
	switch {
	case !r.told || r.soon || napped && r.pieces < 2:
		p.close = 0
	case napped:
	case r.pieces > 0 && after <= thick:
		p.close++
	default:
		p.close = 0
	}
}

// rest naps. A signal ends it early, which does no harm.
func rest() {
	d := unix.NsecToTimespec(int64(nap))
	_ = unix.Nanosleep(&d, nil)
}
