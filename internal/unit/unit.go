// Package unit holds Ridgeline's physical quantities: SI inside, typed in Go,
// converted once at the edge where a user types or reads them.
//
// It is the leftmost package: everything imports it, it imports nothing of the
// project. Bytes and counts are exact integers; FLOPs are float64 because one
// step of a large cluster passes int64's 9.2e18. Dimension-changing steps
// (bytes over a rate gives seconds) go through the few named methods here.
package unit

// Bytes is an exact number of bytes.
type Bytes int64

// FLOPs is an amount of floating-point work; a multiply-add counts two.
type FLOPs float64

// Seconds is a duration in seconds.
type Seconds float64

// FLOPRate is work per second, in FLOP/s, dense (never the sparsity figure).
type FLOPRate float64

// ByteRate is bytes per second; for links per GPU and one direction.
type ByteRate float64

// Over gives the time to move b at rate r. A rate of zero gives +Inf.
func (b Bytes) Over(r ByteRate) Seconds { return Seconds(float64(b) / float64(r)) }

// Over gives the time to do f at rate r. A rate of zero gives +Inf.
func (f FLOPs) Over(r FLOPRate) Seconds { return Seconds(float64(f) / float64(r)) }

// Vast is more than any device holds, and little enough that thousands of it add
// up without overflow.
const Vast Bytes = 1e15

// Capped converts a computed size that may pass int64; beyond Vast it is Vast.
func Capped(bytes float64) Bytes {
	if !(bytes < float64(Vast)) {
		return Vast
	}
	return Bytes(bytes)
}
