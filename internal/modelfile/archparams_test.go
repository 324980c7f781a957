package modelfile_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/modelfile"
)

// resolve is how a run's model and arch_params are read: an override of a known
// name, the whole description of an unknown one.
func resolve(name, params string) (*model.Model, error) {
	if m, err := catalog.Model(name); err == nil {
		return modelfile.Override(m, params)
	}
	return modelfile.FromArchParams(name, params)
}

// TestTrainingRuns resolves every published run. Where a run states n_params the
// count must equal it, with as many learned positions as the run's sequences are long.
func TestTrainingRuns(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "measured", "training_runs.csv"))
	if err != nil {
		t.Skip("the published runs are not part of the repository")
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	col := map[string]int{}
	for i, name := range rows[0] {
		col[name] = i
	}
	for _, r := range rows[1:] {
		name, params := r[col["model"]], r[col["arch_params"]]
		m, err := resolve(name, params)
		if err != nil {
			t.Errorf("%s: %v", r[col["id"]], err)
			continue
		}
		if _, stated, ok := strings.Cut(params, "n_params="); ok {
			if n := strconv.FormatInt(m.Params(), 10); n != stated {
				t.Errorf("%s: counted %s, stated %s", r[col["id"]], n, stated)
			}
			if s := strconv.FormatInt(m.Positions, 10); s != r[col["seq_len"]] {
				t.Errorf("%s: %s positions for sequences of %s", r[col["id"]], s, r[col["seq_len"]])
			}
		}
	}
}

// TestFromArchParams: counts by hand. GPT of L layers, hidden h, V words, s
// positions: 12 L h^2 + 13 L h + (V + s) h + 2 h (arXiv:2104.04473 eq. 2, and
// the final norm).
func TestFromArchParams(t *testing.T) {
	gpt := func(l, h, v int64) int64 { return 12*l*h*h + 13*l*h + (v+2048)*h + 2*h }
	for _, c := range []struct {
		name, params string
		want         int64
	}{
		{"gpt-1.5b", "layers=22;hidden=2304;heads=24", gpt(22, 2304, 51200)},
		{"bloom-class-gpt-181b", "layers=72;hidden=14336;heads=64;vocab=250880", gpt(72, 14336, 250880)},
		// two 128256 x 8192 matrices, 12 layers of q, o, k, v, gated FFN and two norms, final norm
		{"llama3-70b-truncated-to-12-layers", "layers=12;hidden=8192;heads=64;kv_heads=8;ffn=28672;vocab=128256",
			2*128256*8192 + 12*(2*8192*8192+2*8192*1024+3*8192*28672+2*8192) + 8192},
		{"deepseekv3-truncated-to-4-layers", "layers=4;hidden=7168;heads=128;q_lora=1536;kv_lora=512;rope=64;nope=128;v_head=128;ffn=18432;moe_ffn=2048;shared_ffn=2048;experts=256;topk=8;dense_layers=1;vocab=129280",
			2*129280*7168 + 7168 + 4*(7168*1536+1536+1536*128*192+7168*576+512+512*128*256+128*128*7168+2*7168) + 3*7168*18432 + 3*(256*7168+257*3*7168*2048)},
	} {
		m, err := modelfile.FromArchParams(c.name, c.params)
		if err != nil {
			t.Error(err)
		} else if m.Params() != c.want {
			t.Errorf("%s: counted %d, want %d", c.name, m.Params(), c.want)
		}
	}
}

func TestOverride(t *testing.T) {
	m, err := catalog.Model("deepseek-v3")
	if err != nil {
		t.Fatal(err)
	}
	cut, err := modelfile.Override(m, "layers=4;dense_layers=1;topk=4")
	if err != nil {
		t.Fatal(err)
	}
	if len(cut.Layers) != 4 || cut.Layers[1].FFN.TopK != 4 || cut.Layers[0].FFN.MoE() {
		t.Errorf("override gave %+v", cut.Layers)
	}
	if len(m.Layers) != 61 || m.Layers[3].FFN.TopK != 8 {
		t.Error("the override changed the model it started from")
	}
}

func TestBadArchParams(t *testing.T) {
	m, err := catalog.Model("mpt-7b")
	if err != nil {
		t.Fatal(err)
	}
	for params, names := range map[string]string{
		"layers":                    "key=value",
		"layers=2;":                 "key=value",
		"layer=2":                   `"layer"`,
		"layers=2;layers=3":         "twice",
		"layers=-2":                 "layers",
		"layers=0":                  "layers",
		"layers=1e3":                "layers",
		"layers=99999":              "layers",
		"experts=4":                 "experts",
		"q_lora=4":                  "q_lora",
		"heads=31":                  "head_dim",
		"heads=0":                   "heads",
		"kv_heads=7":                "key/value heads",
		"n_params=7":                "n_params",
		"hidden=999999999;heads=1":  "hidden size",
		"vocab=9223372036854775807": "vocab",
	} {
		if _, err := modelfile.Override(m, params); err == nil || !strings.Contains(err.Error(), names) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v does not name %s on one line", params, err, names)
		}
	}
	if _, err := modelfile.FromArchParams("new", "layers=2;heads=2"); err == nil || !strings.Contains(err.Error(), "hidden") {
		t.Errorf("error %v does not name hidden", err)
	}
}

func FuzzArchParams(f *testing.F) {
	f.Add("llama", "layers=12;hidden=8192;heads=64;kv_heads=8;ffn=28672;vocab=128256")
	f.Add("deepseek", "layers=4;hidden=64;heads=4;q_lora=8;kv_lora=8;rope=4;nope=4;v_head=4;ffn=8;moe_ffn=8;experts=4;topk=2;dense_layers=1")
	f.Add("deepseek-v3", "layers=4;dense_layers=4;n_params=10")
	f.Fuzz(func(t *testing.T, name, params string) {
		m, err := resolve(name, params)
		if err == nil && (m.Params() <= 0 || m.ActiveParams() > m.Params()) {
			t.Errorf("accepted a model of %d parameters, %d active", m.Params(), m.ActiveParams())
		}
	})
}
