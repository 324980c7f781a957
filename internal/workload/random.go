package workload

import "math/rand/v2"

// Subsystem names a user of random numbers.
type Subsystem uint64

// Each subsystem draws from a stream of its own, so that asking one for more
// numbers, or leaving one out, never changes what another gets.
const (
	Arrivals Subsystem = iota + 1
	InputLengths
	OutputLengths
	Acceptance // of speculative tokens
	Faults     // of a server that fails on demand
	Starts     // of the users of a closed loop
	Entries    // of requests on their way to the queue
)

// Stream is the subsystem's generator for a seed: PCG-DXSM, whose sequence
// math/rand/v2 keeps over releases.
func Stream(seed uint64, s Subsystem) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(s))) }
