package modelfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// shared finds a folder of published files, or skips.
func shared(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not here: the test reads published files that are not part of the repository", path)
	}
	return path
}

func read(t *testing.T, text string) *model.Model {
	t.Helper()
	m, err := ReadConfig(strings.NewReader(text), "config.json")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestPublishedConfigs counts the configurations as published; the totals follow
// from the shapes by hand.
func TestPublishedConfigs(t *testing.T) {
	type expect struct {
		params    int64
		attention string
		weights   unit.Format
		experts   unit.Format
	}
	want := map[string]expect{
		"MiniMaxAI--MiniMax-M2.5":                    {228689764864, "gqa", unit.FP8Block, unit.FP8Block},
		"Qwen--Qwen3-0.6B":                           {596049920, "gqa", unit.BF16, unit.BF16},
		"Qwen--Qwen3-235B-A22B-FP8":                  {235093634560, "gqa", unit.FP8Block, unit.FP8Block},
		"Qwen--Qwen3-235B-A22B":                      {235093634560, "gqa", unit.BF16, unit.BF16},
		"Qwen--Qwen3-30B-A3B":                        {30532122624, "gqa", unit.BF16, unit.BF16},
		"Qwen--Qwen3-32B-FP8":                        {32762123264, "gqa", unit.FP8Block, unit.FP8Block},
		"Qwen--Qwen3-32B":                            {32762123264, "gqa", unit.BF16, unit.BF16},
		"Qwen--Qwen3-8B":                             {8190735360, "gqa", unit.BF16, unit.BF16},
		"Qwen--Qwen3.5-27B":                          {26895998464, "hybrid linear x48, gqa x16", unit.BF16, unit.BF16},
		"Qwen--Qwen3.5-397B-A17B":                    {396346350336, "hybrid linear x45, gqa x15", unit.BF16, unit.BF16},
		"deepseek-ai--DeepSeek-R1":                   {671026419200, "mla", unit.FP8Block, unit.FP8Block},
		"deepseek-ai--DeepSeek-V3.2":                 {671877944064, "mla+sparse", unit.FP8Block, unit.FP8Block},
		"deepseek-ai--DeepSeek-V3":                   {671026419200, "mla", unit.FP8Block, unit.FP8Block},
		"meta-llama--Llama-3.1-405B":                 {405853388800, "gqa", unit.BF16, unit.BF16},
		"meta-llama--Llama-3.1-70B":                  {70553706496, "gqa", unit.BF16, unit.BF16},
		"meta-llama--Llama-3.1-8B":                   {8030261248, "gqa", unit.BF16, unit.BF16},
		"meta-llama--Llama-4-Scout-17B-16E-Instruct": {107769861120, "gqa+chunked", unit.BF16, unit.BF16},
		"mistralai--Mixtral-8x22B-v0.1":              {140620634112, "gqa", unit.BF16, unit.BF16},
		"mistralai--Mixtral-8x7B-v0.1":               {46702792704, "gqa", unit.BF16, unit.BF16},
		"moonshotai--Kimi-K2-Instruct":               {1026408232448, "mla", unit.FP8Block, unit.FP8Block},
		"nvidia--DeepSeek-V3.1-NVFP4":                {671026419200, "mla", unit.BF16, unit.BF16},
		"nvidia--Llama-3.1-70B-Instruct-FP8":         {70553706496, "gqa", unit.BF16, unit.BF16},
		"openai--gpt-oss-120b":                       {116829156672, "gqa+sliding", unit.BF16, unit.MXFP4},
		"openai--gpt-oss-20b":                        {20914757184, "gqa+sliding", unit.BF16, unit.MXFP4},
	}
	files, err := filepath.Glob(filepath.Join(shared(t, "hf-configs"), "*_config.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no configurations: %v", err)
	}
	for _, path := range files {
		m, err := Open(path)
		if err != nil {
			t.Error(err)
			continue
		}
		name := strings.TrimSuffix(filepath.Base(path), "_config.json")
		got := expect{m.Params(), m.AttentionSummary(), m.Checkpoint.Weights, m.Checkpoint.Experts}
		if w, ok := want[name]; ok && got != w {
			t.Errorf("%s: got %v, want %v", name, got, w)
		}
		if active := m.ActiveParams(); active > m.Params() || active <= 0 {
			t.Errorf("%s: %d active of %d", name, active, m.Params())
		}
	}
}

const smallLlama = `{"model_type":"llama","hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":100`

func TestSmallLlama(t *testing.T) {
	m := read(t, smallLlama+`}`)
	// embedding and head 2 x 6400, final norm 64; a layer: q, o 2 x 4096,
	// k, v 2 x 2048, three FFN matrices 3 x 8192, two norms 128
	if got, want := m.Params(), int64(2*6400+64+2*(2*4096+2*2048+3*8192+128)); got != want {
		t.Errorf("parameters %d, want %d", got, want)
	}
	if got := read(t, smallLlama+`,"some_remark":"x","attention_dropout":0.1}`).Unsupported; len(got) != 1 || !strings.Contains(got[0], "some_remark") {
		t.Errorf("unsupported is %q, want the one field some_remark", got)
	}
}

// TestBadConfig: one line that names the file and the field.
func TestBadConfig(t *testing.T) {
	replace := func(from, to string) string { return strings.Replace(smallLlama+"}", from, to, 1) }
	for _, c := range []struct{ name, text, names string }{
		{"empty", "", "empty"},
		{"blank", " \n\t", "empty"},
		{"truncated", smallLlama, "ends early"},
		{"brace", "{", "ends early"},
		{"list", "[]", "not a JSON object"},
		{"number", "7", "not a JSON object"},
		{"garbage", "{]", "not valid JSON"},
		{"tail", smallLlama + "} {}", "follows"},
		{"twice", smallLlama + `,"vocab_size":7}`, "vocab_size"},
		{"deep", strings.Repeat(`{"a":`, 50), "nested"},
		{"nothing", `{}`, "model_type"},
		{"no sizes", `{"model_type":"llama"}`, "hidden_size"},
		{"no layers", replace(`"num_hidden_layers":2,`, ""), "num_hidden_layers"},
		{"null layers", replace(`"num_hidden_layers":2,`, `"num_hidden_layers":null,`), "num_hidden_layers"},
		{"unknown type", `{"model_type":"mamba9"}`, "mamba9"},
		{"unknown architecture", `{"architectures":["NoSuchForCausalLM"],"hidden_size":-1}`, "NoSuchForCausalLM"},
		{"disagreeing", replace(`"llama"`, `"llama","architectures":["OPTForCausalLM"]`), "OPTForCausalLM"},
		{"two architectures", replace(`"llama"`, `"llama","architectures":["A","B"]`), "architectures"},
		{"negative", replace(`"hidden_size":64`, `"hidden_size":-64`), "hidden_size"},
		{"zero", replace(`"vocab_size":100`, `"vocab_size":0`), "vocab_size"},
		{"string", replace(`"hidden_size":64`, `"hidden_size":"64"`), "hidden_size"},
		{"fraction", replace(`"hidden_size":64`, `"hidden_size":64.5`), "hidden_size"},
		{"huge layers", replace(`"num_hidden_layers":2`, `"num_hidden_layers":1000000000`), "num_hidden_layers"},
		{"beyond int64", replace(`"num_hidden_layers":2`, `"num_hidden_layers":1e300`), "num_hidden_layers"},
		{"huge ffn", replace(`"intermediate_size":128`, `"intermediate_size":1000000000`), "intermediate_size"},
		{"head size", replace(`"num_attention_heads":4`, `"num_attention_heads":3`), "head_dim"},
		{"kv heads", replace(`"num_key_value_heads":2`, `"num_key_value_heads":3`), "num_key_value_heads"},
		{"unknown size", smallLlama + `,"num_extra_experts":2}`, "num_extra_experts"},
		{"unknown object", smallLlama + `,"adapter":{}}`, "adapter"},
		{"flag", smallLlama + `,"mlp_bias":"yes"}`, "mlp_bias"},
		{"dtype", smallLlama + `,"torch_dtype":"int3"}`, "torch_dtype"},
		{"quantised", smallLlama + `,"quantization_config":{"quant_method":"magic"}}`, "quantization_config.quant_method"},
		{"no text part", `{"model_type":"llama4"}`, "text_config"},
	} {
		_, err := ReadConfig(strings.NewReader(c.text), "dir/config.json")
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		if msg := err.Error(); !strings.HasPrefix(msg, "dir/config.json: ") || !strings.Contains(msg, c.names) || strings.Contains(msg, "\n") {
			t.Errorf("%s: %q does not name the file and %q on one line", c.name, msg, c.names)
		}
	}
}

// spaces is an endless file that must not be read to its end.
type spaces struct{ given int }

func (s *spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	s.given += len(p)
	return len(p), nil
}

func TestHugeConfig(t *testing.T) {
	r := &spaces{}
	_, err := ReadConfig(r, "big.json")
	if err == nil || !strings.Contains(err.Error(), "2 MiB") {
		t.Errorf("error %v does not name the limit", err)
	}
	if r.given > 2*maxConfig {
		t.Errorf("read %d bytes of an endless file", r.given)
	}
}

func FuzzReadConfig(f *testing.F) {
	f.Add([]byte(smallLlama + "}"))
	f.Add([]byte(`{"architectures":["DeepseekV3ForCausalLM"],"num_hidden_layers":3,"hidden_size":64}`))
	f.Add([]byte(`{"model_type":"gpt2","n_embd":8,"n_layer":1,"n_head":2,"n_positions":4,"vocab_size":9}`))
	f.Add([]byte(`{"model_type":"mpt","d_model":8,"n_layers":1,"n_heads":2,"max_seq_len":4,"vocab_size":9,"attn_config":{"alibi":true}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ReadConfig(strings.NewReader(string(data)), "f")
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
