package ggufwrite

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/x448/float16"
)

// dtype is how a tensor's elements are stored (ggml.h, enum ggml_type).
type dtype struct {
	id           uint32
	block, bytes int // elements that are stored together, and their bytes
}

var (
	f32   = dtype{0, 1, 4}
	types = map[string]dtype{"f16": {1, 1, 2}, "q4_0": {2, Block, 18}, "q8_0": {8, Block, 34}}
	// fileTypes are general.file_type (llama.h, enum llama_ftype).
	fileTypes = map[string]uint32{"f16": 1, "q4_0": 2, "q8_0": 7}
)

// tensor is one matrix or vector; dims are fastest first, as GGUF stores them.
type tensor struct {
	name string
	dims []int
	dtype
}

func (t *tensor) elements() int {
	n := 1
	for _, d := range t.dims {
		n *= d
	}
	return n
}

func (t *tensor) bytes() int { return t.elements() / t.block * t.bytesPer() }

func (t *tensor) bytesPer() int { return t.dtype.bytes }

// tensors lists the model's, in the order they are written.
func (c *Config) tensors() []tensor {
	var list []tensor
	kind := types[c.Type]
	matrix := func(name string, dims ...int) { list = append(list, tensor{name + ".weight", dims, kind}) }
	plain := func(name string, dims ...int) { list = append(list, tensor{name, dims, f32}) }
	matrix("token_embd", c.Hidden, c.Vocab)
	plain("output_norm.weight", c.Hidden)
	matrix("output", c.Hidden, c.Vocab)
	for l := range c.Layers {
		p := fmt.Sprintf("blk.%d.", l)
		plain(p+"attn_norm.weight", c.Hidden)
		plain(p+"ffn_norm.weight", c.Hidden)
		if c.latent() {
			plain(p+"attn_q_a_norm.weight", c.QRank)
			plain(p+"attn_kv_a_norm.weight", c.KVRank)
			matrix(p+"attn_q_a", c.Hidden, c.QRank)
			matrix(p+"attn_q_b", c.QRank, c.Heads*(c.NoPE+c.RoPE))
			matrix(p+"attn_kv_a_mqa", c.Hidden, c.KVRank+c.RoPE)
			matrix(p+"attn_k_b", c.NoPE, c.KVRank, c.Heads)
			matrix(p+"attn_v_b", c.KVRank, c.VDim, c.Heads)
			matrix(p+"attn_output", c.Heads*c.VDim, c.Hidden)
		} else {
			kv := c.Hidden / c.Heads * c.KVHeads
			matrix(p+"attn_q", c.Hidden, c.Hidden)
			matrix(p+"attn_k", c.Hidden, kv)
			matrix(p+"attn_v", c.Hidden, kv)
			matrix(p+"attn_output", c.Hidden, c.Hidden)
		}
		if !c.latent() || l < c.Dense {
			matrix(p+"ffn_gate", c.Hidden, c.Inner)
			matrix(p+"ffn_up", c.Hidden, c.Inner)
			matrix(p+"ffn_down", c.Inner, c.Hidden)
			continue
		}
		shared := c.ExpertInner * c.Shared
		plain(p+"ffn_gate_inp.weight", c.Hidden, c.Experts)
		plain(p+"exp_probs_b.bias", c.Experts)
		matrix(p+"ffn_gate_exps", c.Hidden, c.ExpertInner, c.Experts)
		matrix(p+"ffn_up_exps", c.Hidden, c.ExpertInner, c.Experts)
		matrix(p+"ffn_down_exps", c.ExpertInner, c.Hidden, c.Experts)
		matrix(p+"ffn_gate_shexp", c.Hidden, shared)
		matrix(p+"ffn_up_shexp", c.Hidden, shared)
		matrix(p+"ffn_down_shexp", shared, c.Hidden)
	}
	return list
}

// fill writes the tensor's data: vectors are 1, matrices uniform around 0 with the
// variance 1/inputs, which keeps activations near 1 from layer to layer.
func (t *tensor) fill(w io.Writer, rng *rand.PCG) error {
	amplitude := math.Sqrt(3 / float64(t.dims[0]))
	n := t.elements() / t.block
	buf := make([]byte, 0, 1<<16)
	next := value(t, amplitude)
	for range n {
		if len(buf)+t.bytesPer() > cap(buf) {
			if _, err := w.Write(buf); err != nil {
				return err
			}
			buf = buf[:0]
		}
		buf = next(buf, rng)
	}
	_, err := w.Write(buf)
	return err
}

// value appends one block of random weights.
func value(t *tensor, amplitude float64) func([]byte, *rand.PCG) []byte {
	le := binary.LittleEndian
	scale := func(of float64) uint16 { return float16.Fromfloat32(float32(amplitude / of)).Bits() }
	uniform := func(bits uint64) float32 { return float32(amplitude * (float64(bits&0xffff)/0x8000 - 1)) }
	switch {
	case len(t.dims) == 1:
		one := math.Float32bits(1)
		return func(b []byte, _ *rand.PCG) []byte { return le.AppendUint32(b, one) }
	case t.dtype == f32:
		return func(b []byte, r *rand.PCG) []byte { return le.AppendUint32(b, math.Float32bits(uniform(r.Uint64()))) }
	case t.dtype == types["f16"]:
		var table [1 << 16]uint16
		for i := range table {
			table[i] = float16.Fromfloat32(uniform(uint64(i))).Bits()
		}
		return func(b []byte, r *rand.PCG) []byte { return le.AppendUint16(b, table[r.Uint64()&0xffff]) }
	}
	levels, words := 128.0, Block/8 // q8_0: scale, then 32 signed bytes
	if t.dtype == types["q4_0"] {
		levels, words = 8, Block/16 // scale, then 32 nibbles around 8
	}
	head := scale(levels)
	return func(b []byte, r *rand.PCG) []byte {
		b = le.AppendUint16(b, head)
		for range words {
			b = le.AppendUint64(b, r.Uint64())
		}
		return b
	}
}
