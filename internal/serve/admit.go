package serve

import "github.com/ridgeline/ridgeline/internal/infer"

// admit starts waiting sequences while there is room and steps of the kind have a place for
// the next of them.
func (r *rank) admit(items []item, budget int, kind stepKind) []item {
	for budget > 0 && len(r.running) < r.engine.MaxSeqs {
		s := r.waiting.first()
		if s == nil || kind.leaves(s.moved) {
			break
		}
		var x hit
		if s.moved {
			s.computed = s.record.Input // its KV came along
		} else {
			x = r.pool.lookup(&s.held, s.record.Blocks, s.text())
			s.computed = r.pool.tokens(x)
		}
		n := r.wants(s, budget)
		total := blocksFor(s.computed+n, r.pool.size)
		reserve := blocksFor(int(r.engine.Reserve.Tokens(int64(s.computed+n), int64(s.text()), int64(s.left()))), r.pool.size)
		if reserve-x.blocks > r.pool.free-x.idle-r.pool.promised {
			s.computed = 0
			break
		}
		r.waiting.pop()
		r.pool.take(&s.held, s.record.Blocks, x)
		r.pool.grow(&s.held, total)
		if r.engine.Reserve == infer.ReserveAnswer {
			r.pool.promise(&s.held, reserve)
		}
		r.running = append(r.running, s)
		if s.record.Preempted == 0 && s.emitted == 0 && !s.moved {
			s.record.Cached = s.computed
			r.counts.Cached += int64(s.computed)
			r.counts.Queried += int64(s.record.Input)
		}
		s.moved = false
		items = append(items, r.run(s, n))
		budget -= n
	}
	return items
}
