package serve

// hit is what of a text is cached.
type hit struct {
	shared int // hashed extents
	own    int // blocks of the sequence's own text, kept from before a preemption
	blocks int // all of them
	idle   int // of these, blocks that nobody holds: taking them lowers the free ones
}

// tokens is the length of the hit.
func (p *pool) tokens(h hit) int { return h.blocks * p.size }

// lookup finds the longest cached prefix of a text of total tokens whose prompt
// has the ids. The last token is never a hit: it must run to give the next one.
func (p *pool) lookup(h *holding, ids []uint64, total int) (x hit) {
	if !p.cache {
		return x
	}
	if p.per > 0 {
		for (x.shared+1)*p.per*p.size < total && x.shared < len(ids) {
			e := p.byHash[ids[x.shared]]
			if e == nil {
				break
			}
			if e.holders == 0 {
				x.idle += e.blocks
			}
			x.blocks += e.blocks
			x.shared++
		}
	}
	if h.kept != nil && x.shared == h.after {
		x.own = min(h.kept.blocks, (total-1)/p.size-x.blocks)
		x.blocks += x.own
		x.idle += x.own
	}
	return x
}

// take gives h the hit that lookup found.
func (p *pool) take(h *holding, ids []uint64, x hit) {
	for _, id := range ids[:x.shared] {
		p.hold(h, p.byHash[id])
	}
	if e := h.kept; e != nil {
		p.drop(h)
		if x.own > 0 {
			p.unlist(e)
			p.free -= x.own
			h.own += x.own
			h.blocks += x.own
		}
	}
}

// hold adds a hashed extent to what h holds.
func (p *pool) hold(h *holding, e *extent) {
	if e.holders == 0 {
		p.unlist(e)
		p.free -= e.blocks
	}
	e.holders++
	h.shared = append(h.shared, e)
	h.blocks += e.blocks
}

// publish makes the whole blocks of a prompt, of which computed tokens are
// there, findable. What another sequence published meanwhile is held in its
// place and the copy given back.
func (p *pool) publish(h *holding, ids []uint64, computed int) {
	if p.per == 0 {
		return
	}
	for len(h.shared) < len(ids) && (len(h.shared)+1)*p.per*p.size <= computed {
		id := ids[len(h.shared)]
		h.own -= p.per
		h.blocks -= p.per
		e := p.byHash[id]
		if e != nil {
			p.free += p.per
			p.hold(h, e)
			continue
		}
		e = &extent{hash: id, hashed: true, blocks: p.per, holders: 1}
		p.byHash[id] = e
		h.shared = append(h.shared, e)
		h.blocks += p.per
	}
}
