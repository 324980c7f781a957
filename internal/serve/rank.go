package serve

import (
	"math/rand/v2"
	"slices"

	"github.com/ridgeline/ridgeline/internal/infer"
)

// rank is one scheduler: a queue, the sequences it runs, and their KV cache.
type rank struct {
	in      *instance
	engine  *Engine
	pool    *pool
	waiting queue
	// newcomers are on their way to the queue; carried is the part of a step that
	// earlier ones were held too little.
	newcomers []newcomer
	carried   float64
	running   []*sequence // in the order they were admitted
	draw      *rand.Rand  // acceptance of drafted tokens
	load      int         // sequences that wait or run, or are on their way here
	leaving   bool        // some that run have all their tokens
	counts    *flow
}

// item is one sequence's part of a step.
type item struct {
	s      *sequence
	tokens int // that run
	emit   int // that it gets at the end of the step, 0 for a chunk that is not the last
	decode bool
}

// plan fills items with the next step and adds it to b. It assumes that the
// step in flight will give what it owes. kind narrows the step to prompts or to
// generation, for engines that do not mix them.
func (r *rank) plan(items []item, b *infer.Batch, kind stepKind) []item {
	items = items[:0]
	budget := r.engine.MaxTokens
	preempted := false
	for i := 0; i < len(r.running) && budget > 0; i++ {
		s := r.running[i]
		if s.left() == 0 || kind.leaves(s.generating()) {
			continue // its last token is in flight, or it is not its turn
		}
		n := r.wants(s, budget)
		for s.computed+n > s.held.blocks*r.pool.size && !r.pool.grow(&s.held, blocksFor(s.computed+n, r.pool.size)) {
			preempted = true
			v := r.victim()
			if at := r.preempt(v); at <= i {
				i--
			}
			if j := slices.IndexFunc(items, func(x item) bool { return x.s == v }); j >= 0 {
				budget += items[j].tokens
				v.pending -= items[j].emit
				items = slices.Delete(items, j, j+1)
			}
			if v == s {
				n = 0
				break
			}
		}
		if n == 0 {
			continue
		}
		items = append(items, r.run(s, n))
		budget -= n
	}
	if preempted {
		r.in.short = kind == prompts
	} else {
		items = r.admit(items, budget, kind)
	}
	for i := range items {
		items[i].price(b)
	}
	b.Busiest = max(b.Busiest, readBy(items))
	return items
}

// stepKind is what may share a step.
type stepKind uint8

const (
	mixed stepKind = iota
	prompts
	generation
)

// leaves tells whether a step of the kind has no place for a sequence that generates, as
// does one whose cache came from another instance, or for one that is read.
func (k stepKind) leaves(generates bool) bool {
	return k != mixed && generates != (k == generation)
}

// wants is the tokens that s would run in a step that has budget left.
func (r *rank) wants(s *sequence, budget int) int {
	if s.generating() && r.engine.Speculation != nil {
		// Drafts beyond the answer's end are not written.
		return min(1+min(r.engine.Speculation.Drafts, s.left()-1), budget)
	}
	return min(s.text()-s.computed, budget)
}

// run moves s through n tokens and says what the step gives.
func (r *rank) run(s *sequence, n int) item {
	x := item{s: s, tokens: n, decode: s.generating()}
	switch {
	case x.decode:
		x.emit = min(1+r.accepted(n-1), s.left())
		if n > 1 {
			r.counts.Drafts++
			r.counts.Drafted += int64(n - 1)
			r.counts.Accepted += int64(x.emit - 1)
		}
		s.computed += x.emit
	case s.computed+n == s.text():
		x.emit = 1
		fallthrough
	default:
		s.computed += n
		r.pool.publish(&s.held, s.record.Blocks, min(s.computed, s.record.Input))
	}
	s.pending += x.emit
	return x
}

// accepted draws how many of the drafts hold: each only if those before it did.
func (r *rank) accepted(drafts int) (n int) {
	for n < drafts && r.draw.Float64() < r.engine.Speculation.Accept[n] {
		n++
	}
	return n
}

// price adds the item to the batch.
func (x *item) price(b *infer.Batch) {
	if x.decode {
		b.Decode++
		b.DecodeContext += int64(x.s.computed - x.emit + x.tokens)
		return
	}
	before := x.s.computed - x.tokens
	b.Prompts++
	b.Prefill += int64(x.tokens)
	b.PrefillPairs += float64(x.tokens)*float64(before) + float64(x.tokens)*float64(x.tokens+1)/2
}

// victim is the running sequence that would go last. One whose last token is in
// flight is spared: its blocks come free by themselves.
func (r *rank) victim() (v *sequence) {
	for _, s := range r.running {
		if s.left() > 0 && (v == nil || v.before(s)) {
			v = s
		}
	}
	return v
}

// preempt takes everything from v and puts it back into the queue; at is where
// it ran. Tokens that the step in flight owes it still come; those that the step
// being planned would have given do not.
func (r *rank) preempt(v *sequence) (at int) {
	at = slices.Index(r.running, v)
	r.running = slices.Delete(r.running, at, at+1)
	r.pool.release(&v.held, v.computed, true)
	v.computed = 0
	v.record.Preempted++
	r.counts.Preempted++
	r.waiting.push(v)
	return at
}
