package infer

import (
	"fmt"
	"math"

	"github.com/ridgeline/ridgeline/internal/mem"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// cacheLoad is the cache that one sequence takes on a rank of one stage.
type cacheLoad struct {
	perToken float64
	fixed    unit.Bytes       // states
	windowed []windowedLayers // layers that keep their last tokens only
}

type windowedLayers struct {
	window   int64
	perToken float64
}

// bytes is what a sequence of n tokens takes.
func (c *cacheLoad) bytes(n int64) float64 {
	b := float64(n)*c.perToken + float64(c.fixed)
	for _, w := range c.windowed {
		b += float64(min(n, w.window)) * w.perToken
	}
	return b
}

// cache adds up the layers and MTP modules of a stage. Engines free a windowed layer's blocks once
// they leave the window, and a chunked layer's with the chunk.
func (e *Engine) cache(s *stage) cacheLoad {
	var c cacheLoad
	dcp := float64(e.setup.Plan.DCP)
	add := func(a *model.Attention, n int64) {
		each := float64(n) * e.ops.CacheBytes(a) / dcp
		c.fixed += unit.Bytes(n) * e.ops.StateBytes(a)
		switch {
		case a.Window > 0:
			c.windowed = append(c.windowed, windowedLayers{a.Window, each})
		case a.Chunk > 0:
			c.windowed = append(c.windowed, windowedLayers{a.Chunk, each})
		default:
			c.perToken += each
		}
	}
	for k, n := range s.count {
		add(&e.kinds[k].layer.Attention, n)
	}
	for i := range s.mtp { // a module is a layer that attends, too
		add(&e.setup.Model.MTP[i].Attention, 1)
	}
	return c
}

// KVTokens is how many tokens the caches of an instance hold together, all
// replicas, in sequences of the usual context (Setup.Context): layers with windows
// or states keep a fixed part per sequence, so shorter ones hold fewer tokens.
func (e *Engine) KVTokens() int64 {
	per := e.load.bytes(e.setup.Context) / float64(e.setup.Context)
	if per <= 0 {
		return math.MaxInt64 / 2
	}
	return int64(float64(e.memory.Parts[mem.Cache])/per) * int64(e.setup.Plan.DP)
}

// MaxConcurrency is how many sequences of n tokens an instance holds at once.
func (e *Engine) MaxConcurrency(n int64) int64 {
	per := e.load.bytes(n)
	if per <= 0 {
		return math.MaxInt64 / 2
	}
	return int64(float64(e.memory.Parts[mem.Cache])/per) * int64(e.setup.Plan.DP)
}

// spreads is the standard deviations by which caches that grow with the answers are larger
// than on average before they count as full: about once in a thousand moments.
const spreads = 3

// growing is the cache of a replica in requests of isl prompt and osl generated tokens that are
// halfway through their answers, and the standard deviation of what one of them holds, in
// the same: any token of an answer is as likely as another, so osl/sqrt(12) tokens. Caches that set
// room aside for answers, or do not grow, have none.
func (e *Engine) growing(isl, osl int64) (requests, deviation float64) {
	mean := e.load.bytes(isl + osl/2)
	if e.profile.Reserve == ReserveAnswer || mean <= 0 {
		return 0, 0
	}
	return float64(e.memory.Parts[mem.Cache]) / mean, (e.load.bytes(isl+osl) - e.load.bytes(isl)) / mean / math.Sqrt(12)
}

// Holds is how many requests of isl prompt and osl generated tokens the caches of an instance
// hold at once as the engine lets them in: with room set aside for whole ones, or so many
// that what they hold halfway through their answers, and what it varies, fits:
//
//	n + spreads deviation sqrt(n) = requests halfway that fill a replica
//
// No fewer than whole ones fit.
func (e *Engine) Holds(isl, osl int64) int64 {
	whole := e.MaxConcurrency(isl + osl)
	requests, deviation := e.growing(isl, osl)
	half := spreads * deviation / 2
	root := math.Sqrt(half*half+requests) - half
	return max(int64(root*root)*int64(e.setup.Plan.DP), whole)
}

// fullness is the share of the time in which so many requests, if all were let in, would
// hold more than the caches have (the sum of many is normal).
func (e *Engine) fullness(requests float64, isl, osl int64) float64 {
	most, deviation := e.growing(isl, osl)
	requests /= float64(e.setup.Plan.DP)
	if most <= 0 || deviation <= 0 {
		return 0
	}
	return math.Erfc((most-requests)/(deviation*math.Sqrt(2*requests))) / 2
}

// CheckRequest refuses requests of isl prompt and osl generated tokens that the
// model or the cache cannot hold, the latter with a *MemoryError.
func (e *Engine) CheckRequest(isl, osl int64) error {
	m := e.setup.Model
	n := isl + osl
	switch {
	case isl < 1 || osl < 1:
		return fmt.Errorf("a request of %d prompt and %d generated tokens: give at least 1 of each", isl, osl)
	case m.MaxContext > 0 && n > m.MaxContext:
		return fmt.Errorf("a request of %d + %d tokens exceeds the %d of %s: shorten isl or osl", isl, osl, m.MaxContext, m.Name)
	case e.MaxConcurrency(n) < 1:
		return &MemoryError{What: fmt.Sprintf("the cache of one request of %d tokens", n), Need: unit.Bytes(e.load.bytes(n)),
			Have: e.memory.Parts[mem.Cache], Mend: "use more GPUs, fewer bits in the cache or shorter requests"}
	}
	return nil
}

// KVBytesPerToken is what one token takes in the caches of all ranks of one
// replica together, copies included; PerToken of Memory is one GPU's part.
func (e *Engine) KVBytesPerToken() float64 {
	total := 0.0
	for i := range e.stages {
		c := e.cache(&e.stages[i])
		total += c.perToken
		for _, w := range c.windowed {
			total += w.perToken
		}
	}
	return total * float64(e.setup.Plan.TP)
}
