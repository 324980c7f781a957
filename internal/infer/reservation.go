package infer

// Reservation is the cache that an engine sets aside for a request before it runs. The
// closed form and the event simulation both ask it.
type Reservation uint8

// The reservations. ReservePrompt lets the cache grow with the answer, and throws sequences
// out where it is full; ReserveAnswer never does (TensorRT-LLM's GUARANTEED_NO_EVICT).
const (
	ReserveChunk  Reservation = iota // what the next step reads
	ReservePrompt                    // the text that is known (vLLM's scheduler_reserve_full_isl)
	ReserveAnswer                    // and all that it may become
)

// Tokens is how many of a request's tokens must have room: of next, which it will hold
// after the step that starts it, the known text and the rest of the answer behind that.
func (r Reservation) Tokens(next, known, rest int64) int64 {
	switch r {
	case ReserveAnswer:
		return max(next, known+rest)
	case ReservePrompt:
		return max(next, known)
	}
	return next
}
