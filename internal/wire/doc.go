// Package wire reads thousands of streams at the least processor time: what arrives on a plain
// TCP connection is handed to its consumer within the goroutine that waits for all of them,
// so that a piece costs one read and no switch between goroutines. Its time is when the system
// got it, however late it is read; so where pieces come thick on many connections, one wait serves up to three
// milliseconds of them, and one call reads them where the system has rings. It knows bytes and times, not what they mean. Systems other than Linux keep Go's
// own connections.
package wire

import (
	"net"
	"sync/atomic"
	"time"
)

// Sink takes bytes that came, with the time at which the system got the last of them; where it does
// not tell, that right after the read. The first of them may have come since an earlier time. The
// bytes are valid during the call only. It answers with what it leaves to Read, and whether it is
// through with the connection. It must call no method of any connection, nor wait for who does: others are held
// for the same turn.
type Sink func(b []byte, since, at time.Time) (rest []byte, over bool)

// Taker is a connection whose bytes can be taken past whoever reads it.
type Taker interface {
	net.Conn
	// Take hands to sink what comes from now on. It is refused, with false, unless
	// what Read gave last ended in a blank line, as the head of an HTTP answer does: only then does nobody
	// hold bytes that belong to the sink. The channel is closed when the sink is through or
	// the connection came to its end; Read goes on from there.
	Take(sink Sink) (over <-chan struct{}, ok bool)
	// Release ends Take: the sink is not called any more once it returns.
	Release()
	// Came is when the system got what Read gave last, and Wrote right before it was handed the
	// last bytes of Write: no answer to them can have come earlier.
	Came() time.Time
	Wrote() time.Time
}

// Piece is the most bytes that are read of one connection before others have their turn: some
// 50 chunks of a stream, or 2,000 of one byte, whose parsing takes well under a millisecond.
const Piece = 16 << 10

// The longest times since the last call of Lateness, ns.
var behind, doubt atomic.Int64

// untold tells of times since the last call of Lateness that no stamp is known of.
var untold atomic.Bool

// Doubt notes a time that has no stamp of its own, as of pieces that were read at once, and by how much
// it may be late as far as one can tell.
func Doubt(d time.Duration) {
	raise(&doubt, d)
	untold.Store(true)
}

// Lateness is how late bytes were consumed at most since the last call, from when the system got them to
// the end of what was done with them, and how late the times of those may have been taken that have no stamp
// of their own, since they may have come. own tells that there were such: they are as late as
// the goroutine that read them, too.
func Lateness() (consumed, stamped time.Duration, own bool) {
	return time.Duration(behind.Swap(0)), time.Duration(doubt.Swap(0)), untold.Swap(false)
}

// raise makes the highest value at least d.
func raise(highest *atomic.Int64, d time.Duration) {
	for {
		old := highest.Load()
		if int64(d) <= old || highest.CompareAndSwap(old, int64(d)) {
			return
		}
	}
}
