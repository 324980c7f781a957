package catalog

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestPublishedTotals holds every entry to its publisher's figure: within the
// rounding of the printed digits or, where the file says why not, within 5 %.
func TestPublishedTotals(t *testing.T) {
	for _, e := range Models() {
		m, p := e.Model, e.PublishedTotal
		if p.Value == 0 {
			t.Errorf("%s: no published total", m.Name)
			continue
		}
		off := math.Abs(float64(m.Params()) - p.Value)
		switch {
		case off <= p.HalfDigit && e.Gap != "":
			t.Errorf("%s: counts to its published %.4g, yet explains a gap", m.Name, p.Value)
		case off > p.HalfDigit && (e.Gap == "" || off > 0.05*p.Value):
			t.Errorf("%s: counted %d, published %.10g", m.Name, m.Params(), p.Value)
		}
	}
}

// TestPublishedActive: publishers count embedding and head or leave them out;
// the printed figure must lie between the two conventions, with its rounding.
func TestPublishedActive(t *testing.T) {
	for _, e := range Models() {
		m, p := e.Model, e.PublishedActive
		if p.Value == 0 {
			continue
		}
		most := float64(m.ActiveParams())
		least := most - float64(m.EmbeddingParams()+m.HeadParams())
		if p.Value < least-p.HalfDigit || p.Value > most+p.HalfDigit {
			t.Errorf("%s: published %.4g active, counted %.4g to %.4g", m.Name, p.Value, least, most)
		}
	}
}

// TestExactTotals: entries whose total is known to the last parameter. MPT's are
// printed in mosaicml/llm-foundry:scripts/train/benchmarking/README.md; the others
// follow from the shapes by hand.
func TestExactTotals(t *testing.T) {
	for name, want := range map[string]int64{
		"llama-2-7b":     6738415616,
		"llama-3-8b":     8030261248,
		"llama-3-70b":    70553706496,
		"llama-3.1-405b": 405853388800,
		"llama-3.2-1b":   1235814400,
		"llama-3.2-3b":   3212749824,
		"mistral-7b":     7241732096,
		"mixtral-8x7b":   46702792704,
		"qwen2.5-7b":     7615616512,
		"qwen2.5-72b":    72706203648,
		"qwen3-8b":       8190735360,
		"gemma-2-2b":     2614341888,
		"gemma-2-9b":     9241705984,
		"gemma-2-27b":    27227128320,
		"gpt-oss-20b":    20914757184,
		"gpt-oss-120b":   116829156672,
		"bloom-176b":     176247271424,
		"mpt-125m":       125311488,
		"mpt-350m":       355985408,
		"mpt-760m":       760470528,
		"mpt-1b":         1315950592,
		"mpt-3b":         2651837440,
		"mpt-7b":         6658859008,
		"mpt-13b":        12853954560,
		"mpt-30b":        29975214080,
		"mpt-70b":        64862437376,
	} {
		m, err := Model(name)
		if err != nil {
			t.Error(err)
		} else if m.Params() != want {
			t.Errorf("%s: counted %d, want %d", name, m.Params(), want)
		}
	}
}

// TestAgainstTable compares with a table of models that others counted; it
// leaves out some biases and norms, hence 0.5 %.
func TestAgainstTable(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "spec", "models.csv"))
	if err != nil {
		t.Skip("the table of models is not part of the repository")
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
		m, err := Model(r[col["name"]])
		if err != nil {
			t.Logf("not in the catalogue: %s (%s)", r[col["name"]], r[col["attention"]])
			continue
		}
		if n := r[col["layers"]]; n != strconv.Itoa(len(m.Layers)) {
			t.Errorf("%s: %d layers, table %s", m.Name, len(m.Layers), n)
		}
		counted, err := strconv.ParseFloat(r[col["counted_total_params_b"]], 64)
		if err != nil {
			continue
		}
		if got := float64(m.Params()) / 1e9; math.Abs(got/counted-1) > 0.005 {
			t.Errorf("%s: %.4f B, table %.3f", m.Name, got, counted)
		}
	}
}

func TestModelNames(t *testing.T) {
	for name, want := range map[string]string{
		"DeepSeek-V3":                        "deepseek-v3",
		"deepseek-ai/DeepSeek-R1":            "deepseek-r1",
		"meta-llama/Llama-3.1-70B":           "llama-3.1-70b",
		"meta-llama/Meta-Llama-3.1-70B":      "llama-3.1-70b",
		"meta-llama/Meta-Llama-3-8B":         "llama-3-8b",
		"meta-llama/Llama-3.1-405B-Instruct": "llama-3.1-405b",
		"MiniMax-M2":                         "minimax-m2.5",
	} {
		m, err := Model(name)
		if err != nil {
			t.Error(err)
		} else if m.Name != want {
			t.Errorf("%s is %s, want %s", name, m.Name, want)
		}
	}
	_, err := Model("deepseek-v33")
	if err == nil || !strings.Contains(err.Error(), "deepseek-v3") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v does not offer deepseek-v3 on one line", err)
	}
}

// TestModelCopies: what a caller changes stays the caller's.
func TestModelCopies(t *testing.T) {
	a, err := Model("deepseek-v3.2")
	if err != nil {
		t.Fatal(err)
	}
	a.Layers[0].Attention.Indexer.TopK = 1
	a.Layers[1].FFN.Inner = 1
	b, err := Model("deepseek-v3.2")
	if err != nil {
		t.Fatal(err)
	}
	if b.Layers[0].Attention.Indexer.TopK != 2048 || b.Layers[1].FFN.Inner != 18432 {
		t.Error("a caller's change reached the catalogue")
	}
}

func TestPublishedRounding(t *testing.T) {
	for text, want := range map[string]Published{"671": {671e9, 0.5e9}, "46.7": {46.7e9, 0.05e9}, "": {}} {
		got, err := published(json.Number(text))
		if err != nil || math.Abs(got.Value-want.Value) > 1 || math.Abs(got.HalfDigit-want.HalfDigit) > 1 {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestStrictModelFile(t *testing.T) {
	var m modelFile
	if err := decodeStrict([]byte(`{"name":"x","hiden":3}`), &m); err == nil || !strings.Contains(err.Error(), "hiden") {
		t.Errorf("error %v does not name the unknown key", err)
	}
	m = modelFile{Name: "x"}
	if _, err := m.entry(); err == nil || !strings.Contains(err.Error(), "source") {
		t.Errorf("error %v does not ask for a source", err)
	}
}
