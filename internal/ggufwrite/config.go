// Package ggufwrite writes GGUF v3 files of random weights, so that an engine can be
// measured without a download: a step's time depends on the shapes and formats of the
// weights, not on their values. The architectures are llama and deepseek2 (latent
// attention and routed experts), with a vocabulary of made-up words.
//
// Opinion: a file is written straight through, nothing is kept; equal configurations
// and seeds give equal files; shapes that no engine would load are refused first.
package ggufwrite

import "fmt"

// Config is a model's shapes. Architecture and Type are required, other zero values
// are defaults that make a model of about 100 M parameters (llama), or 260 M of which
// 110 M are active (deepseek2).
type Config struct {
	Architecture string // llama or deepseek2
	Type         string // of the matrices: f16, q8_0 or q4_0; norms and routers are f32
	Hidden       int    // 768
	Inner        int    // of the dense FFN; 2048
	Layers       int    // 12
	Heads        int    // 12
	KVHeads      int    // llama; Heads
	Vocab        int    // 8192
	Context      int    // tokens the model claims to know; 8192
	// deepseek2: latent attention and experts.
	QRank, KVRank    int // 384, 256
	NoPE, RoPE, VDim int // of a head; 64, 32, 64
	Dense            int // leading layers without experts; 1
	Experts, TopK    int // 16, 4
	ExpertInner      int // 512
	Shared           int // shared experts; 1
	Seed             uint64
}

// Block is how many elements share a scale: rows of every matrix are multiples of it.
const Block = 32

func (c *Config) latent() bool { return c.Architecture == "deepseek2" }

// defaults fills zero fields.
func (c *Config) defaults() {
	for _, d := range []struct {
		field *int
		usual int
	}{{&c.Hidden, 768}, {&c.Inner, 2048}, {&c.Layers, 12}, {&c.Heads, 12}, {&c.Vocab, 8192}, {&c.Context, 8192}, {&c.QRank, 384}, {&c.KVRank, 256},
		{&c.NoPE, 64}, {&c.RoPE, 32}, {&c.VDim, 64}, {&c.Dense, 1}, {&c.Experts, 16}, {&c.TopK, 4}, {&c.ExpertInner, 512}, {&c.Shared, 1}} {
		if *d.field == 0 {
			*d.field = d.usual
		}
	}
	if c.KVHeads == 0 {
		c.KVHeads = c.Heads
	}
}

// most bounds every size, so that products of two of them fit; the largest published
// models stay below.
const most = 1 << 20

// Check fills the defaults and says what no engine would load.
func (c *Config) Check() error {
	if c.Architecture != "llama" && c.Architecture != "deepseek2" {
		return fmt.Errorf("architecture %q: give llama or deepseek2", c.Architecture)
	}
	if _, ok := types[c.Type]; !ok {
		return fmt.Errorf("type %q: give f16, q8_0 or q4_0", c.Type)
	}
	c.defaults()
	for name, n := range map[string]int{"hidden": c.Hidden, "inner": c.Inner, "layers": c.Layers, "heads": c.Heads, "kv heads": c.KVHeads, "vocab": c.Vocab, "context": c.Context,
		"q rank": c.QRank, "kv rank": c.KVRank, "nope": c.NoPE, "rope": c.RoPE, "v dim": c.VDim, "dense": c.Dense, "experts": c.Experts, "top k": c.TopK, "expert inner": c.ExpertInner, "shared": c.Shared} {
		if n < 1 || n > most {
			return fmt.Errorf("%s of %d: give 1 to %d", name, n, most)
		}
	}
	rows := map[string]int{"hidden": c.Hidden, "inner": c.Inner}
	if c.latent() {
		rows = map[string]int{"hidden": c.Hidden, "inner": c.Inner, "q rank": c.QRank, "kv rank": c.KVRank, "nope": c.NoPE, "heads x v dim": c.Heads * c.VDim, "expert inner": c.ExpertInner}
	}
	for name, n := range rows {
		if n%Block != 0 {
			return fmt.Errorf("%s of %d: give a multiple of %d, the block of the quantised types", name, n, Block)
		}
	}
	switch {
	case c.Hidden%c.Heads != 0 && !c.latent():
		return fmt.Errorf("hidden size %d does not divide into %d heads", c.Hidden, c.Heads)
	case c.Heads%c.KVHeads != 0:
		return fmt.Errorf("%d heads do not divide into %d key heads", c.Heads, c.KVHeads)
	case c.RoPE%2 != 0 || c.Hidden/c.Heads%2 != 0 && !c.latent():
		return fmt.Errorf("rotary embedding turns pairs: the head's size must be even")
	case c.TopK > c.Experts || c.Dense > c.Layers:
		return fmt.Errorf("%d of %d experts, %d dense of %d layers: a part is larger than the whole", c.TopK, c.Experts, c.Dense, c.Layers)
	case c.Vocab < words:
		return fmt.Errorf("vocabulary of %d: give at least %d, bytes and letters", c.Vocab, words)
	}
	return nil
}
