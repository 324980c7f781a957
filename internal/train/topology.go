package train

import (
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
)

// content is what a chunk holds: layers per class and whether it is an end of
// the model. Chunks with equal content are priced once.
type content struct {
	layers      []int64
	first, last bool
}

// parts is the model cut into chunks.
type parts struct {
	kinds []content
	of    []uint16 // kind of each chunk
}

// rankKind is a set of pipeline ranks that hold chunks of the same kinds.
type rankKind struct {
	locals []uint16 // kinds of the local chunks
	held   int      // most chunk activations in flight on any of these ranks
	rank   int      // the rank that holds them
	layers int      // layers of the local chunks
	// sends is the messages that leave the rank per micro-batch and local chunk,
	// activations forwards and their gradients backwards, by whether they cross
	// nodes; every one of them occupies the sending direction of a link.
	sends [hops]int
}

// A hop is a boundary crossing between two ranks of one node or of two.
const (
	inside = iota
	between
	hops
)

// topology is the parts on the ranks of one schedule.
type topology struct {
	*parts
	ranks []rankKind
	cross []uint8 // per boundary: inside or between
}

type topologyKey struct {
	schedule     sched.Kind
	pp, vpp, mbs int // mbs: micro-batches per pipeline
}

// cut spreads the layers over chunks, by forward FLOPs where they do not divide
// evenly, and finds the distinct chunks.
func (e *Evaluator) cut(chunks int) *parts {
	if p := e.cuts[chunks]; p != nil {
		return p
	}
	p := &parts{of: make([]uint16, chunks)}
	from := 0
	for i, n := range e.job.Partition(chunks) {
		c := content{layers: make([]int64, len(e.classes)), first: i == 0, last: i == chunks-1}
		for k := range e.classes {
			c.layers[k] = int64(e.prefix[k][from+n] - e.prefix[k][from])
		}
		from += n
		p.of[i] = p.kind(&c)
	}
	e.cuts[chunks] = p
	return p
}

// kind finds or adds a content.
func (p *parts) kind(c *content) uint16 {
	for k := range p.kinds {
		if p.kinds[k].equal(c) {
			return uint16(k)
		}
	}
	p.kinds = append(p.kinds, *c)
	return uint16(len(p.kinds) - 1)
}

func (c *content) equal(d *content) bool {
	if c.first != d.first || c.last != d.last {
		return false
	}
	for i := range c.layers {
		if c.layers[i] != d.layers[i] {
			return false
		}
	}
	return true
}

// topology places the plan's chunks on its ranks.
func (e *Evaluator) topology(p *plan.Plan) *topology {
	m := p.MicroBatches(e.job.GlobalBatch)
	key := topologyKey{p.Schedule, p.PP, p.VPP, m}
	if t := e.topologies[key]; t != nil {
		return t
	}
	t := &topology{parts: e.cut(p.Chunks())}
	for i := range len(t.of) - 1 {
		t.cross = append(t.cross, e.boundary(p, i))
	}
	locals := make([]uint16, p.Schedule.LocalChunks(p.VPP))
	for r := range p.PP {
		k := rankKind{rank: r}
		for i := range locals {
			c := p.Schedule.ChunkAt(r, i, p.PP)
			locals[i] = t.of[c]
			k.layers += int(sum(t.kinds[t.of[c]].layers))
			if c > 0 {
				k.sends[t.cross[c-1]]++
			}
			if c < len(t.cross) {
				k.sends[t.cross[c]]++
			}
		}
		k.held = sched.InFlight(p.Schedule, p.PP, m, p.VPP, r)
		if p.PP == 1 {
			k.held = len(locals)
		}
		t.add(locals, k)
	}
	e.topologies[key] = t
	return t
}

// boundary tells where what leaves chunk i goes. Ranks of a stage are
// neighbours, so stages smaller than a node share nodes.
func (e *Evaluator) boundary(p *plan.Plan, i int) uint8 {
	a, _ := p.Schedule.RankOf(i, p.PP, p.VPP)
	b, _ := p.Schedule.RankOf(i+1, p.PP, p.VPP)
	stage := p.GPUs() / p.PP
	if a*stage/e.job.NodeGPUs == b*stage/e.job.NodeGPUs {
		return inside
	}
	return between
}

func sum(list []int64) (n int64) {
	for _, x := range list {
		n += x
	}
	return n
}

func (t *topology) add(locals []uint16, k rankKind) {
	for i := range t.ranks {
		if same(t.ranks[i].locals, locals) && t.ranks[i].sends == k.sends {
			if r := &t.ranks[i]; k.held > r.held {
				r.held, r.rank = k.held, k.rank
			}
			return
		}
	}
	k.locals = append([]uint16(nil), locals...)
	t.ranks = append(t.ranks, k)
}

func same(a, b []uint16) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
