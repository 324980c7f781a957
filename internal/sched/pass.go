package sched

// Pass is what a rank does with one micro-batch in one of its chunks.
type Pass uint8

// F is the forward pass, B the backward pass, W the weight gradient alone, FB a
// forward and a full backward of two micro-batches overlapped in one pass. A B
// that is not followed by a W of its own holds both halves of the backward
// (Placed.Full); one that is holds the input gradient only.
const (
	F Pass = iota
	B
	W
	FB
)

// String is the letter in drawings, traces and JSON.
func (p Pass) String() string { return [...]string{"F", "B", "W", "FB"}[p] }

// item is one entry of a rank's list: the schedule as data, before any seconds.
type item struct {
	pass   Pass
	full   bool  // a backward with its weight gradient inside
	local  uint8 // chunk of the rank; of the forward half for FB, whose backward half is the other one
	mb, mc int32 // micro-batch; mc that of the backward half for FB
}

func fwd(local, mb int) item { return item{pass: F, local: uint8(local), mb: int32(mb)} }
func bwd(local, mb int) item { return item{pass: B, full: true, local: uint8(local), mb: int32(mb)} }
func inp(local, mb int) item { return item{pass: B, local: uint8(local), mb: int32(mb)} }
func wgt(local, mb int) item { return item{pass: W, local: uint8(local), mb: int32(mb)} }
