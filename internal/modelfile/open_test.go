package modelfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/unit"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestOpenFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tiny")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "config.json") {
		t.Errorf("empty folder: error %v does not name config.json", err)
	}
	writeFile(t, filepath.Join(dir, "config.json"), smallLlama+"}")
	m, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if m.Name != "tiny" || m.Checkpoint.Weights != unit.BF16 {
		t.Errorf("name %q in %v, want tiny in bf16", m.Name, m.Checkpoint.Weights)
	}
	side := filepath.Join(dir, "hf_quant_config.json")
	writeFile(t, side, `{"quantization":{"quant_algo":"NVFP4","exclude_modules":["lm_head","model.layers.0.self_attn*"]}}`)
	if m, err = Open(dir); err != nil || m.Checkpoint.Weights != unit.NVFP4 || m.Checkpoint.Experts != unit.NVFP4 {
		t.Errorf("sidecar: %v, %+v", err, m)
	}
	writeFile(t, side, `{"quantization":{"quant_algo":"NVFP4","exclude_modules":["model.layers.*.self_attn*"]}}`)
	if m, err = Open(dir); err != nil || m.Checkpoint.Weights != unit.BF16 || m.Checkpoint.Experts != unit.NVFP4 {
		t.Errorf("sidecar that keeps attention: %v, %+v", err, m)
	}
	writeFile(t, side, `{"quantization":{"quant_algo":"NVFP4","quantized_layers":{"a":1}}}`)
	if _, err = Open(dir); err == nil || !strings.Contains(err.Error(), "quantized_layers") {
		t.Errorf("error %v does not name quantized_layers", err)
	}
	writeFile(t, side, `{"quantization":{"quant_algo":"Q9"}}`)
	if _, err = Open(dir); err == nil || !strings.Contains(err.Error(), "quant_algo") {
		t.Errorf("error %v does not name quant_algo", err)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "meta-llama--Llama-3.1-8B_config.json"), smallLlama+"}")
	for _, id := range []string{"meta-llama/Llama-3.1-8B", "META-llama/meta-llama-3.1-8b"} {
		m, err := Find(id, dir)
		if err != nil {
			t.Error(err)
		} else if m.HFID != "meta-llama/Llama-3.1-8B" {
			t.Errorf("found %q", m.HFID)
		}
	}
	if _, err := Find("a/b", dir); err == nil || !strings.Contains(err.Error(), "a--b_config.json") {
		t.Errorf("error %v does not name the file that is missing", err)
	}
	if _, err := Open(filepath.Join(dir, "none.json")); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("missing file: %v", err)
	}
}

func TestQuantization(t *testing.T) {
	for _, c := range []struct {
		text            string
		weights, expert unit.Format
	}{
		{`{"quant_method":"fp8","weight_block_size":[128,128]}`, unit.FP8Block, unit.FP8Block},
		{`{"quant_method":"fp8"}`, unit.FP8, unit.FP8},
		{`{"quant_method":"gptq","bits":4,"group_size":128}`, unit.INT4, unit.INT4},
		{`{"quant_method":"awq","bits":8}`, unit.INT8, unit.INT8},
		{`{"quant_method":"modelopt","quant_algo":"NVFP4","ignore":["lm_head"]}`, unit.NVFP4, unit.NVFP4},
		{`{"quant_method":"mxfp4","modules_to_not_convert":["model.layers.*.self_attn"]}`, unit.BF16, unit.MXFP4},
		{`{"quant_method":"compressed-tensors","config_groups":{"group_0":{"weights":{"num_bits":4,"type":"int","strategy":"group"}}},"ignore":["re:.*self_attn.*"]}`, unit.BF16, unit.INT4},
		{`{"quant_method":"compressed-tensors","config_groups":{"group_0":{"weights":{"num_bits":8,"type":"float","strategy":"channel"}}}}`, unit.FP8, unit.FP8},
	} {
		m := read(t, smallLlama+`,"quantization_config":`+c.text+`}`)
		if m.Checkpoint.Weights != c.weights || m.Checkpoint.Experts != c.expert {
			t.Errorf("%s: %v, experts %v", c.text, m.Checkpoint.Weights, m.Checkpoint.Experts)
		}
	}
	for text, names := range map[string]string{
		`{"quant_method":"fp8","weight_block_size":[64,64]}`: "weight_block_size",
		`{"quant_method":"gptq","bits":3}`:                   "bits",
		`{"quant_method":"gptq","bits":4,"group_size":-7}`:   "group_size is -7",
		`{"quant_method":"gptq","bits":4,"group_size":"x"}`:  "group_size",
		`{"quant_method":"awq","bits":4,"weight_bits":3}`:    "weight_bits",
		`{"quant_method":"fp8","experts_format":"nvfp4"}`:    "quantization_config.\"experts_format\" is not understood",
		`{"quant_method":"compressed-tensors","config_groups":{"g":{"weights":{"num_bits":4,"type":"int","strategy":"bogus"}}}}`:            "strategy is \"bogus\"",
		`{"quant_method":"compressed-tensors","config_groups":{"g":{"weights":{"num_bits":4,"type":"int","strategy":"group","layers":3}}}}`: "layers",
		`{"quant_method":"modelopt"}`:                                    "quant_algo",
		`{"quant_method":"compressed-tensors"}`:                          "config_groups",
		`{"quant_method":"compressed-tensors","config_groups":{"g":{}}}`: "config_groups.g.weights",
	} {
		_, err := ReadConfig(strings.NewReader(smallLlama+`,"quantization_config":`+text+`}`), "c")
		if err == nil || !strings.Contains(err.Error(), names) {
			t.Errorf("%s: error %v does not name %s", text, err, names)
		}
	}
}
