package sched

import "fmt"

// op is one step of a program: a pass with its slot and the op it waits for.
type op struct {
	slot int32 // which times apply: (rank, local chunk, what), see slotOf
	dep  int32 // op whose end plus the slot's delay must have come; 0: none
}

// What an op does, the last digit of its slot. A pair is two ops: a gate of no
// length that waits for the backward's input, then the pass itself, which
// waits for the forward's.
const (
	doF = iota
	doB
	doW
	doFull
	doGate
	doPair
	numDo
)

// program is a schedule in one list that respects every dependency, so that any
// times can be laid out in one sweep. Op 0 is a sentinel that ends before time.
type program struct {
	ranks, locals int
	ops           []op
	first         []int32 // per rank its first op
}

func slotOf(rank, locals, local, do int) int32 {
	return int32((rank*locals+local)*numDo + do)
}

// compiler merges the lists of all ranks into a program.
type compiler struct {
	s      *Spec
	lists  [][]item
	prog   *program
	at     []int   // next item of each rank
	f, b   []int32 // op that ends F or B of (chunk, micro-batch); 0: not yet
	w      []bool
	chunks int
}

// compile orders the lists of all ranks. It fails when a pass is missing, comes
// twice, precedes its own input on its rank, or when ranks wait for each other.
func compile(s *Spec, lists [][]item) (*program, error) {
	n := s.Kind.Chunks(s.Stages, s.VPP)
	c := &compiler{s: s, lists: lists, at: make([]int, s.Stages), chunks: n,
		f: make([]int32, n*s.MicroBatches), b: make([]int32, n*s.MicroBatches), w: make([]bool, n*s.MicroBatches)}
	total := 1
	for _, l := range lists {
		total += len(l)
	}
	c.prog = &program{ranks: s.Stages, locals: s.Kind.LocalChunks(s.VPP),
		ops: make([]op, 1, total), first: make([]int32, s.Stages)}
	for left := total - 1; left > 0; {
		before := left
		for r := range lists {
			left -= c.advance(r)
		}
		for r := len(lists) - 1; r >= 0; r-- { // forwards run down the ranks, backwards up
			left -= c.advance(r)
		}
		if left == before {
			return nil, c.stuck()
		}
	}
	for i := range c.f {
		if c.f[i] == 0 || c.b[i] == 0 || !c.w[i] {
			return nil, fmt.Errorf("%s: chunk %d misses a pass of micro-batch %d", s.Kind, i/s.MicroBatches, i%s.MicroBatches)
		}
	}
	return c.prog, nil
}

// advance emits what rank r can run and returns how many items that were.
func (c *compiler) advance(r int) int {
	n := 0
	for c.at[r] < len(c.lists[r]) && c.emit(r, c.lists[r][c.at[r]]) {
		c.at[r]++
		n++
	}
	return n
}

// emit adds one item to the program; false when an input is not there yet.
func (c *compiler) emit(r int, it item) bool {
	p, m := c.prog, c.s.MicroBatches
	l := int(it.local)
	key := c.s.Kind.ChunkAt(r, l, c.s.Stages)*m + int(it.mb)
	push := func(do, local int, dep int32) int32 {
		if c.at[r] == 0 && p.first[r] == 0 {
			p.first[r] = int32(len(p.ops))
		}
		p.ops = append(p.ops, op{slotOf(r, p.locals, local, do), dep})
		return int32(len(p.ops) - 1)
	}
	switch it.pass {
	case F:
		dep, ok := c.needF(key)
		if !ok {
			return false
		}
		c.f[key] = push(doF, l, dep)
	case B:
		dep, ok := c.needB(key)
		if !ok {
			return false
		}
		if it.full {
			c.b[key], c.w[key] = push(doFull, l, dep), true
		} else {
			c.b[key] = push(doB, l, dep)
		}
	case W:
		if c.b[key] == 0 || c.w[key] {
			return false
		}
		push(doW, l, 0)
		c.w[key] = true
	case FB:
		back := c.s.Kind.ChunkAt(r, 1-l, c.s.Stages)*m + int(it.mc)
		depF, okF := c.needF(key)
		depB, okB := c.needB(back)
		if !okF || !okB {
			return false
		}
		push(doGate, 1-l, depB)
		end := push(doPair, l, depF)
		c.f[key], c.b[back], c.w[back] = end, end, true
	}
	return true
}

// needF gives the op that a forward waits for: the forward of the chunk before.
func (c *compiler) needF(key int) (int32, bool) {
	if c.f[key] != 0 {
		return 0, false // a second time
	}
	if key < c.s.MicroBatches {
		return 0, true
	}
	dep := c.f[key-c.s.MicroBatches]
	return dep, dep != 0
}

// needB gives the op that a backward waits for: the backward of the chunk after.
// Its own forward ran earlier on the same rank.
func (c *compiler) needB(key int) (int32, bool) {
	if c.f[key] == 0 || c.b[key] != 0 {
		return 0, false
	}
	next := key + c.s.MicroBatches
	if next >= len(c.b) {
		return 0, true
	}
	return c.b[next], c.b[next] != 0
}

func (c *compiler) stuck() error {
	for r, i := range c.at {
		if i < len(c.lists[r]) {
			it := c.lists[r][i]
			return fmt.Errorf("%s: rank %d waits forever for the input of %s of micro-batch %d", c.s.Kind, r, it.pass, it.mb)
		}
	}
	return fmt.Errorf("%s: a schedule without passes", c.s.Kind)
}
