package serve

// pool is the KV cache of one rank: blocks that sequences hold, and blocks that
// are free, some of which still carry a prompt that may be asked for again.
//
// Blocks are counted, not numbered: they move in extents, runs of blocks that
// are taken and given back together. Free extents with content wait in a list,
// the least recently used first; blocks without content are taken before any of
// them. Extents of the trace's hash ids can be held by many sequences at once.
type pool struct {
	size     int // tokens per block
	capacity int // blocks
	free     int // blocks that no sequence holds, with content or without
	listed   int // of these, blocks in the list
	promised int // of these, blocks set aside for the answers of sequences that run
	cache    bool
	per      int // blocks of one hashed extent
	byHash   map[uint64]*extent
	list     extent // sentinel of the ring
}

// extent is a run of blocks with content: a hashed piece of prompts that may be
// shared, or the text of one sequence alone.
type extent struct {
	hash       uint64
	hashed     bool
	blocks     int
	holders    int
	owner      *holding // whose text it is, where it is not hashed and may be wanted again
	prev, next *extent  // in the list, while nobody holds it
}

// holding is what one sequence holds, in the order of its text: shared extents,
// then own blocks.
type holding struct {
	shared []*extent
	own    int
	blocks int // all of them
	due    int // blocks set aside for it beyond these
	// kept is the own text left in the list at the last preemption, behind after
	// shared extents.
	kept  *extent
	after int
}

func newPool(e *Engine, blockTokens int) *pool {
	p := &pool{size: e.BlockSize, capacity: e.Blocks, free: e.Blocks, cache: e.PrefixCache}
	if p.cache && blockTokens > 0 {
		p.per = blockTokens / e.BlockSize
		p.byHash = map[uint64]*extent{}
	}
	p.list.prev, p.list.next = &p.list, &p.list
	return p
}

// used is the blocks that sequences hold.
func (p *pool) used() int { return p.capacity - p.free }

// grow gives h blocks until it has total; false, and nothing given, where the
// free ones do not suffice.
func (p *pool) grow(h *holding, total int) bool {
	need := total - h.blocks
	if need <= 0 {
		return true
	}
	if need > p.free {
		return false
	}
	for p.free-p.listed < need {
		p.evict()
	}
	p.free -= need
	h.own += need
	h.blocks = total
	p.promise(h, max(h.due+h.blocks-need, h.blocks))
	return true
}

// promise sets blocks aside, so that h may come to hold total.
func (p *pool) promise(h *holding, total int) {
	due := total - h.blocks
	p.promised += due - h.due
	h.due = due
}

// evict makes the least recently used extent lose its last block: a sequence's
// own text loses its end first, a hashed piece is worth nothing in part.
func (p *pool) evict() {
	e := p.list.next
	if e.hashed {
		delete(p.byHash, e.hash)
		p.unlist(e)
		return
	}
	e.blocks--
	p.listed--
	if e.blocks == 0 {
		p.unlist(e)
	}
}

// enlist puts an extent that nobody holds at the end of the list.
func (p *pool) enlist(e *extent) {
	last := p.list.prev
	e.prev, e.next = last, &p.list
	last.next, p.list.prev = e, e
	p.listed += e.blocks
}

// unlist takes an extent out of the list; its blocks stay free.
func (p *pool) unlist(e *extent) {
	e.prev.next, e.next.prev = e.next, e.prev
	e.prev, e.next = nil, nil
	p.listed -= e.blocks
	if e.owner != nil {
		e.owner.kept = nil
	}
}

// release gives back all that h holds. The end of its text goes to the list
// first and so is lost first. computed is the tokens whose KV is there: with
// again, h may come back for those in whole blocks.
func (p *pool) release(h *holding, computed int, again bool) {
	p.drop(h)
	p.promise(h, h.blocks)
	p.free += h.own
	if p.cache && h.own > 0 {
		e := &extent{blocks: h.own}
		if again {
			e.blocks = computed/p.size - (h.blocks - h.own)
			e.owner, h.kept, h.after = h, e, len(h.shared)
		}
		if e.blocks > 0 {
			p.enlist(e)
		} else {
			h.kept = nil
		}
	}
	for i := len(h.shared) - 1; i >= 0; i-- {
		e := h.shared[i]
		if e.holders--; e.holders == 0 {
			p.free += e.blocks
			p.enlist(e)
		}
	}
	clear(h.shared)
	h.shared, h.own, h.blocks = h.shared[:0], 0, 0
}

// drop forgets that h may come back for its own text.
func (p *pool) drop(h *holding) {
	if h.kept != nil {
		h.kept.owner = nil
		h.kept = nil
	}
}
