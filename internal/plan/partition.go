package plan

import (
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// StageLoad gives the forward FLOPs per token, at causal sequences of seq tokens,
// of layers [from, to) placed on a chunk: Partition's load. The last chunk has the
// LM head and mtp MTP modules, each with a head of its own.
func StageLoad(m *model.Model, seq int64, mtp, chunks int) func(chunk, from, to int) float64 {
	layer := func(l *model.Layer) float64 {
		return float64(m.LinearFLOPs(l) + l.Attention.CoreFLOPs(seq, model.Causal)/unit.FLOPs(seq))
	}
	before := make([]float64, len(m.Layers)+1)
	for i := range m.Layers {
		before[i+1] = before[i] + layer(&m.Layers[i])
	}
	head := float64(2 * m.Hidden * m.Vocab)
	last := head
	for i := range min(mtp, len(m.MTP)) {
		last += head + layer(&m.MTP[i])
	}
	return func(chunk, from, to int) float64 {
		f := before[to] - before[from]
		if chunk == chunks-1 {
			f += last
		}
		return f
	}
}

// Partition spreads the job's layers over chunks, see the function Partition.
func (j *Job) Partition(chunks int) []int {
	load := StageLoad(j.Model, int64(j.Seq), j.MTP, chunks)
	if j.EndsAsLayers {
		load = func(chunk, from, to int) float64 {
			n := to - from
			if chunk == 0 {
				n++
			}
			if chunk == chunks-1 {
				n++
			}
			return float64(n)
		}
	}
	return Partition(len(j.Model.Layers), chunks, load)
}

// Partition spreads layers over chunks along the pipeline and returns how many
// layers each chunk holds. load gives the relative work of layers [from, to) of
// a chunk, ends included, so that a chunk with the LM head may hold fewer.
//
// Where layers divide evenly every chunk gets the same number, as training
// engines place them by default. Otherwise the chunks start from equal shares,
// the larger ones in the middle, and single layers move from the most to the
// least loaded chunk while that lowers the maximum (61 layers over 16 stages).
func Partition(layers, chunks int, load func(chunk, from, to int) float64) []int {
	counts := make([]int, chunks)
	for i := range counts {
		counts[i] = layers / chunks
	}
	extra := layers % chunks
	if extra == 0 {
		return counts
	}
	for i := range extra { // the first and the last chunk come last
		counts[(i+1)%chunks]++
	}
	for range layers {
		if !improve(counts, load) {
			break
		}
	}
	return counts
}

// improve moves one layer if that lowers the largest load.
func improve(counts []int, load func(chunk, from, to int) float64) bool {
	hi, lo, worst := extremes(counts, load)
	if hi == lo || counts[hi] <= 1 {
		return false
	}
	counts[hi]--
	counts[lo]++
	if _, _, after := extremes(counts, load); after < worst {
		return true
	}
	counts[hi]++
	counts[lo]--
	return false
}

func extremes(counts []int, load func(chunk, from, to int) float64) (hi, lo int, worst float64) {
	least, from := 0.0, 0
	for i, n := range counts {
		l := load(i, from, from+n)
		from += n
		if i == 0 || l > worst {
			hi, worst = i, l
		}
		if i == 0 || l < least {
			lo, least = i, l
		}
	}
	return hi, lo, worst
}
