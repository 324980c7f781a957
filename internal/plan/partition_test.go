package plan

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ridgeline/ridgeline/internal/model"
)

// even weighs every layer alike, and nothing else.
func even(_, from, to int) float64 { return float64(to - from) }

// TestPartition places layers over chunks by hand.
func TestPartition(t *testing.T) {
	headed := func(extra float64, last int) func(int, int, int) float64 {
		return func(chunk, from, to int) float64 {
			if chunk == last {
				return extra + float64(to-from)
			}
			return float64(to - from)
		}
	}
	for _, c := range []struct {
		says           string
		layers, chunks int
		load           func(int, int, int) float64
		want           []int
	}{
		{"one chunk holds all", 61, 1, even, []int{61}},
		{"equal shares where they divide", 32, 4, even, []int{8, 8, 8, 8}},
		{"equal shares even under a heavy head, as engines place them", 32, 4, headed(3, 3), []int{8, 8, 8, 8}},
		{"DeepSeek-V3's 61 layers over 16 stages: the first holds 3, its 13 larger neighbours 4", 61, 16, even,
			[]int{3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3}},
		{"a head of two layers' work: 63 over 4 stages cannot stay below 16", 61, 4, headed(2, 3), []int{16, 16, 15, 14}},
		{"embedding and head alone", 6, 8, even, []int{0, 1, 1, 1, 1, 1, 1, 0}},
	} {
		if got := Partition(c.layers, c.chunks, c.load); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.says, got, c.want)
		}
	}
}

// TestPartitionProperties: chunks sum to the layers, none inside is empty, equal
// where layers divide, and none exceeds another by more than a layer when all
// layers weigh the same.
func TestPartitionProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		chunks := 1 + rng.IntN(64)
		layers := chunks + rng.IntN(200)
		weights := make([]float64, layers)
		for i := range weights {
			weights[i] = 0.1 + rng.Float64()
		}
		head := 4 * rng.Float64()
		load := func(chunk, from, to int) float64 {
			sum := 0.0
			for _, w := range weights[from:to] {
				sum += w
			}
			if chunk == chunks-1 {
				sum += head
			}
			return sum
		}
		for name, f := range map[string]func(int, int, int) float64{"even": even, "uneven": load} {
			got, sum := Partition(layers, chunks, f), 0
			for _, n := range got {
				sum += n
			}
			if sum != layers || len(got) != chunks || slices.Min(got) < 1 {
				t.Fatalf("%s: %d layers over %d chunks: %v", name, layers, chunks, got)
			}
			if spread := slices.Max(got) - slices.Min(got); name == "even" && spread > 1 || layers%chunks == 0 && spread != 0 {
				t.Fatalf("%s: %d layers over %d chunks are unequal: %v", name, layers, chunks, got)
			}
		}
	}
}

// TestPartitionImproves: moving layers never leaves a larger maximum than equal
// shares with the larger chunks in front of the last have.
func TestPartitionImproves(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		chunks := 2 + rng.IntN(16)
		layers := chunks + 1 + rng.IntN(100)
		head := 5 * rng.Float64()
		load := func(chunk, from, to int) float64 {
			if chunk == chunks-1 {
				return head + float64(to-from)
			}
			return float64(to - from)
		}
		start := make([]int, chunks)
		for i := range start {
			start[i] = layers / chunks
		}
		for i := range layers % chunks {
			start[(i+1)%chunks]++
		}
		_, _, before := extremes(start, load)
		if _, _, after := extremes(Partition(layers, chunks, load), load); after > before {
			t.Fatalf("%d layers over %d chunks, head %.2f: %.2f after %.2f", layers, chunks, head, after, before)
		}
	}
}

// Embedding and head in place of a layer: Zero Bubble's 22 layers on 8 stages and, interleaved,
// 24 chunks (arXiv:2401.10241: a layer less on the first and the last stage), BLOOM's 70 on 12.
func TestEndsAsLayers(t *testing.T) {
	for _, c := range []struct {
		layers, chunks int
		want           []int
	}{
		{22, 8, []int{2, 3, 3, 3, 3, 3, 3, 2}},
		{6, 8, []int{0, 1, 1, 1, 1, 1, 1, 0}},
		{70, 12, []int{5, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 5}},
		{72, 12, []int{6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6}},
	} {
		j := NewJob(&model.Model{Hidden: 4096, Vocab: 250880, Layers: make([]model.Layer, c.layers)}, c.chunks, 8, c.chunks, 1024, 0)
		j.EndsAsLayers = true
		if got := j.Partition(c.chunks); !slices.Equal(got, c.want) {
			t.Errorf("%d layers over %d chunks: %v, want %v", c.layers, c.chunks, got, c.want)
		}
	}
}
