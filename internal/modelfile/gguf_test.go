package modelfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// ggufWriter builds a GGUF v3 file in memory; tensor data are zeros.
type ggufWriter struct {
	keys, tensors  bytes.Buffer
	nKeys, nTensor uint64
	data           uint64
}

func (w *ggufWriter) text(b *bytes.Buffer, s string) {
	w.le(b, uint64(len(s)))
	b.WriteString(s)
}

func (w *ggufWriter) le(b *bytes.Buffer, v any) {
	if err := binary.Write(b, binary.LittleEndian, v); err != nil {
		panic(err)
	}
}

func (w *ggufWriter) key(name string, v any) {
	w.nKeys++
	w.text(&w.keys, name)
	switch v := v.(type) {
	case string:
		w.le(&w.keys, uint32(8))
		w.text(&w.keys, v)
	case int:
		w.le(&w.keys, uint32(4))
		w.le(&w.keys, uint32(v))
	case []string:
		w.le(&w.keys, uint32(9))
		w.le(&w.keys, uint32(8))
		w.le(&w.keys, uint64(len(v)))
		for _, s := range v {
			w.text(&w.keys, s)
		}
	}
}

// f16 and f32 add tensors, fastest dimension first.
func (w *ggufWriter) f16(name string, dims ...uint64) { w.tensor(name, 1, 2, dims) }
func (w *ggufWriter) f32(name string, dims ...uint64) { w.tensor(name, 0, 4, dims) }

func (w *ggufWriter) tensor(name string, kind uint32, width uint64, dims []uint64) {
	w.nTensor++
	w.text(&w.tensors, name)
	w.le(&w.tensors, uint32(len(dims)))
	size := width
	for _, d := range dims {
		w.le(&w.tensors, d)
		size *= d
	}
	w.le(&w.tensors, kind)
	w.le(&w.tensors, w.data)
	w.data += (size + 31) &^ 31
}

// header is the file without its data.
func (w *ggufWriter) header() []byte {
	var b bytes.Buffer
	b.WriteString("GGUF")
	w.le(&b, uint32(3))
	w.le(&b, w.nTensor)
	w.le(&b, w.nKeys)
	b.Write(w.keys.Bytes())
	b.Write(w.tensors.Bytes())
	for b.Len()%32 != 0 {
		b.WriteByte(0)
	}
	return b.Bytes()
}

func (w *ggufWriter) bytes() []byte { return append(w.header(), make([]byte, w.data)...) }

func tinyLlama() *ggufWriter {
	w := &ggufWriter{}
	w.key("general.architecture", "llama")
	for k, v := range map[string]int{"block_count": 2, "embedding_length": 64, "feed_forward_length": 128, "attention.head_count": 4, "attention.head_count_kv": 2, "context_length": 512, "vocab_size": 100} {
		w.key("llama."+k, v)
	}
	w.key("tokenizer.ggml.tokens", []string{"a", "b"})
	w.f16("token_embd.weight", 64, 100)
	w.f32("output_norm.weight", 64)
	w.f16("output.weight", 64, 100)
	w.f32("rope_freqs.weight", 8)
	for l := range 2 {
		p := fmt.Sprintf("blk.%d.", l)
		w.f32(p+"attn_norm.weight", 64)
		w.f32(p+"ffn_norm.weight", 64)
		w.f16(p+"attn_q.weight", 64, 64)
		w.f16(p+"attn_k.weight", 64, 32)
		w.f16(p+"attn_v.weight", 64, 32)
		w.f16(p+"attn_output.weight", 64, 64)
		w.f16(p+"ffn_gate.weight", 64, 128)
		w.f16(p+"ffn_up.weight", 64, 128)
		w.f16(p+"ffn_down.weight", 128, 64)
	}
	return w
}

func tinyDeepSeek() *ggufWriter {
	w := &ggufWriter{}
	w.key("general.architecture", "deepseek2")
	for k, v := range map[string]int{"block_count": 2, "embedding_length": 64, "feed_forward_length": 128, "attention.head_count": 4, "attention.head_count_kv": 1,
		"rope.dimension_count": 8, "leading_dense_block_count": 1, "attention.q_lora_rank": 32, "attention.kv_lora_rank": 16, "attention.key_length": 24,
		"attention.value_length": 16, "attention.key_length_mla": 24, "attention.value_length_mla": 12, "expert_count": 8, "expert_used_count": 2,
		"expert_feed_forward_length": 32, "expert_shared_count": 1} {
		w.key("deepseek2."+k, v)
	}
	w.f16("token_embd.weight", 64, 100)
	w.f32("output_norm.weight", 64)
	w.f16("output.weight", 64, 100)
	for l := range 2 {
		p := fmt.Sprintf("blk.%d.", l)
		w.f32(p+"attn_norm.weight", 64)
		w.f32(p+"ffn_norm.weight", 64)
		w.f32(p+"attn_q_a_norm.weight", 32)
		w.f32(p+"attn_kv_a_norm.weight", 16)
		w.f16(p+"attn_q_a.weight", 64, 32)
		w.f16(p+"attn_q_b.weight", 32, 4*24)
		w.f16(p+"attn_kv_a_mqa.weight", 64, 16+8)
		w.f16(p+"attn_k_b.weight", 16, 16, 4)
		w.f16(p+"attn_v_b.weight", 16, 12, 4)
		w.f16(p+"attn_output.weight", 4*12, 64)
		if l == 0 {
			w.f16(p+"ffn_gate.weight", 64, 128)
			w.f16(p+"ffn_up.weight", 64, 128)
			w.f16(p+"ffn_down.weight", 128, 64)
			continue
		}
		w.f32(p+"ffn_gate_inp.weight", 64, 8)
		w.f32(p+"exp_probs_b.bias", 8)
		w.tensor(p+"ffn_gate_exps.weight", 30, 2, []uint64{64, 32, 8}) // BF16
		w.tensor(p+"ffn_up_exps.weight", 30, 2, []uint64{64, 32, 8})
		w.tensor(p+"ffn_down_exps.weight", 30, 2, []uint64{32, 64, 8})
		w.f16(p+"ffn_gate_shexp.weight", 64, 32)
		w.f16(p+"ffn_up_shexp.weight", 64, 32)
		w.f16(p+"ffn_down_shexp.weight", 32, 64)
	}
	return w
}

func openGGUF(t testing.TB, data []byte) (*model.Model, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return Open(path)
}

func TestGGUF(t *testing.T) {
	m, err := openGGUF(t, tinyLlama().bytes())
	if err != nil {
		t.Fatal(err)
	}
	// The same shapes as TestSmallLlama.
	if want := read(t, smallLlama+"}").Params(); m.Params() != want || m.Name != "tiny" || m.Checkpoint.Weights != unit.FP16 {
		t.Errorf("llama: %d parameters in %v, want %d in fp16", m.Params(), m.Checkpoint.Weights, want)
	}
	m, err = openGGUF(t, tinyDeepSeek().bytes())
	if err != nil {
		t.Fatal(err)
	}
	a, f := m.Layers[1].Attention, m.Layers[1].FFN
	if a.Kind != model.MLA || a.QKDim != 24 || a.VDim != 12 || f.Experts != 8 || f.SharedInner != 32 || !f.RouterBias || m.Layers[0].FFN.MoE() {
		t.Errorf("deepseek2: %+v %+v", a, f)
	}
	if m.Checkpoint.Weights != unit.FP16 || m.Checkpoint.Experts != unit.BF16 {
		t.Errorf("deepseek2 formats: %+v", m.Checkpoint)
	}
}

// TestBadGGUF: damage gives one line that names what is wrong.
func TestBadGGUF(t *testing.T) {
	good := tinyLlama().bytes()
	put := func(at int, v uint64) []byte {
		b := bytes.Clone(good)
		binary.LittleEndian.PutUint64(b[at:], v)
		return b
	}
	with := func(f func(w *ggufWriter)) []byte {
		w := tinyLlama()
		f(w)
		return w.bytes()
	}
	for _, c := range []struct {
		name  string
		data  []byte
		names string
	}{
		{"empty", nil, "not a GGUF"},
		{"other", []byte("PK\x03\x04 something"), "not a GGUF"},
		{"version", append([]byte("GGUF\x09\x00\x00\x00"), good[8:]...), "version 9"},
		{"cut in the header", good[:700], "ends early"},
		{"cut in the counts", good[:18], "more than a header can hold"},
		{"cut in the data", good[:len(good)-1000], "incomplete"},
		{"lying tensor count", put(8, 1<<62), "tensor count"},
		{"tensor count beyond the file", put(8, 1<<19), "tensor count"},
		{"lying key count", put(16, 1<<40), "metadata count"},
		{"lying key length", put(24, 1<<63), "length of a key"},
		{"one tensor more", put(8, tinyLlama().nTensor+1), "dimensions"},
		{"alignment", with(func(w *ggufWriter) { w.key("general.alignment", 0) }), "general.alignment"},
		{"alignment type", with(func(w *ggufWriter) { w.key("general.alignment", "x") }), "general.alignment"},
		{"split count", with(func(w *ggufWriter) { w.key("split.tensors.count", 1<<30) }), "split.tensors.count"},
		{"window", with(func(w *ggufWriter) { w.key("llama.attention.chunk_size", 8) }), "chunk_size"},
		{"surplus tensor", with(func(w *ggufWriter) { w.f32("blk.1.extra.weight", 3) }), "layer 1"},
		{"surplus layer", with(func(w *ggufWriter) { w.f32("blk.2.attn_norm.weight", 64) }), "block_count"},
		{"huge dimension", with(func(w *ggufWriter) {
			w.tensors.Reset()
			w.nTensor = 1
			w.tensor("token_embd.weight", 1, 0, []uint64{1 << 60, 1 << 60})
		}), "dimension"},
		{"architecture", func() []byte { w := &ggufWriter{}; w.key("general.architecture", "mamba9"); return w.bytes() }(), "mamba9"},
		{"no metadata", func() []byte { w := &ggufWriter{}; w.key("general.architecture", "llama"); return w.bytes() }(), "embedding_length"},
	} {
		_, err := openGGUF(t, c.data)
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		if msg := err.Error(); !strings.Contains(msg, "tiny.gguf: ") || !strings.Contains(msg, c.names) || strings.Contains(msg, "\n") {
			t.Errorf("%s: %q does not name the file and %q on one line", c.name, msg, c.names)
		}
	}
}

// TestSparseGGUF: a file without data behind its size can promise a lot; no
// promise is kept in memory or walked through.
func TestSparseGGUF(t *testing.T) {
	array := func(w *ggufWriter, n uint64, kind uint32) {
		w.nKeys++
		w.text(&w.keys, "tokenizer.ggml.tokens")
		w.le(&w.keys, uint32(9))
		w.le(&w.keys, kind)
		w.le(&w.keys, n)
	}
	for name, lie := range map[string]func(w *ggufWriter){
		"string": func(w *ggufWriter) {
			w.nKeys++
			w.text(&w.keys, "general.name")
			w.le(&w.keys, uint32(8))
			w.le(&w.keys, uint64(maxGGUFString+1))
		},
		"words":   func(w *ggufWriter) { array(w, maxGGUFEntries+1, 8) },
		"scores":  func(w *ggufWriter) { array(w, maxGGUFEntries+1, 6) },
		"nothing": func(w *ggufWriter) { array(w, maxGGUFEntries, 8) }, // as many empty words, then no tensors
	} {
		w := &ggufWriter{}
		w.key("general.architecture", "llama")
		lie(w)
		path := filepath.Join(t.TempDir(), "sparse.gguf")
		if err := os.WriteFile(path, w.header(), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, 1<<40); err != nil {
			t.Skip("the file system keeps no sparse files")
		}
		if _, err := Open(path); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line", name, err)
		}
	}
}

// FuzzReadGGUF fuzzes headers; zeros follow them, as tensor data.
func FuzzReadGGUF(f *testing.F) {
	f.Add(tinyLlama().header())
	f.Add(tinyDeepSeek().header())
	f.Add([]byte("GGUF\x03\x00\x00\x00"))
	path := filepath.Join(f.TempDir(), "fuzz.gguf")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, int64(len(data))+1<<18); err != nil {
			t.Fatal(err)
		}
		m, err := OpenGGUF(path)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			return
		}
		if m.Params() <= 0 || m.ActiveParams() > m.Params() {
			t.Errorf("accepted a model of %d parameters, %d active", m.Params(), m.ActiveParams())
		}
	})
}
