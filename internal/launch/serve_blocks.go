package launch

import (
	"cmp"
	"fmt"

	"github.com/ridgeline/ridgeline/internal/argv"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// fp8Block is the side of the square of weights that shares a scale in FP8 checkpoints
// (weight_block_size of DeepSeek-V3's config.json, arXiv:2412.19437 section 3.3.2).
const fp8Block = 128

// ranksOfDense is over how many ranks SGLang cuts dense layers: all of an instance's,
// or none where a rank would get a part of a block (--moe-dense-tp-size 1).
func (b *builder) ranksOfDense(r role) int {
	if n := r.layout.Ranks(); r.layout.DP == 1 || !b.blocks() || b.denseInner()%int64(n*fp8Block) == 0 {
		return n
	}
	return 1
}

// blocks tells whether the engine loads the checkpoint's own FP8 blocks.
func (b *builder) blocks() bool {
	return b.Model.Checkpoint.Weights == unit.FP8Block && (b.Serve.Quantization == "" || b.Serve.Quantization == "fp8")
}

// denseInner is the inner size of the widest dense FFN, 0 where every layer routes.
func (b *builder) denseInner() (n int64) {
	for i := range b.Model.Layers {
		if f := &b.Model.Layers[i].FFN; !f.MoE() {
			n = max(n, f.Inner)
		}
	}
	return n
}

// wholeBlocks refuses layouts that leave a rank a part of a block of scales: vLLM
// (validate_fp8_block_shape) and SGLang end while loading such a checkpoint.
func (b *builder) wholeBlocks(r role) error {
	s := &r.layout
	if b.Engine != argv.VLLM && b.Engine != argv.SGLang || !b.blocks() {
		return nil
	}
	check := func(what string, inner int64, ranks int) error {
		if inner == 0 || ranks <= 1 || inner%int64(ranks*fp8Block) == 0 {
			return nil
		}
		return fmt.Errorf("%s loads FP8 weights in blocks of %d, and %d ranks of %s leave parts of them among its %d columns: use a smaller tp, or ep and dp in its place",
			b.Engine, fp8Block, ranks, what, inner)
	}
	dense := s.TP
	if b.Engine == argv.SGLang {
		dense = b.ranksOfDense(r)
	}
	if err := check("a dense layer", b.denseInner(), dense); err != nil {
		return err
	}
	f := b.Model.FirstMoE()
	if f == nil || cmp.Or(b.Model.Checkpoint.Experts, unit.FP8Block) != unit.FP8Block {
		return nil
	}
	if err := check("an expert", f.ExpertInner, s.ETP()); err != nil {
		return err
	}
	shared := s.TP
	if b.Engine == argv.SGLang { // whole where tokens are exchanged, or else cut as dense layers
		if shared = s.Ranks(); s.Exchange() {
			shared = 1
		}
	}
	return check("the shared expert", f.SharedInner, shared)
}
