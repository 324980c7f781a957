package calib

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// decodeRecord is a row of a decode-attention table.
type decodeRecord struct {
	Op      string  `parquet:"op_name"`
	Device  string  `parquet:"device"`
	Core    string  `parquet:"attn_dtype"`
	Cache   string  `parquet:"kv_cache_dtype"`
	Batch   int64   `parquet:"batch_size"`
	Heads   int64   `parquet:"num_heads"`
	KVHeads int64   `parquet:"num_key_value_heads"`
	Dim     int64   `parquet:"head_dim"`
	Step    int64   `parquet:"step"`
	Window  int64   `parquet:"window_size"`
	Latency float64 `parquet:"latency"`
}

func goodDecode() decodeRecord {
	return decodeRecord{"generation_attention", "NVIDIA H100 80GB HBM3", "bfloat16", "fp8", 4, 32, 8, 128, 1023, 0, 0.02}
}

func decodeTable(t testing.TB, rows ...decodeRecord) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := parquet.Write(&b, rows); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// `step` is the KV length before the new token; an FP8 cache has a byte per element.
func TestDecodeRowCounts(t *testing.T) {
	data := decodeTable(t, goodDecode())
	tab, err := readTable("x.parquet", bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	c, k, err := readRows(tab)
	if err != nil {
		t.Fatal(err)
	}
	var x sample
	if why := k.row(c, 0, &x); why != "" {
		t.Fatal(why)
	}
	op := x.ops[0]
	if op.SeqKV != 1024 || op.Bytes != 4*1024*8*2*128+4*32*2*128*2 || op.FLOPs != 4*128*4*32*1024 || !op.Decode || op.KVHeads != 8 || op.Sequences != 4 {
		t.Errorf("%+v", op)
	}
}

// What no kernel can take, and rows of another GPU than the folder's, are named; the others
// are scored.
func TestScoreNamesWhatCannotBe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h100", "attention", "vllm-1-generation_attention_perf.parquet")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	row := func(change func(*decodeRecord)) decodeRecord { r := goodDecode(); change(&r); return r }
	data := decodeTable(t, goodDecode(), row(func(r *decodeRecord) { r.Latency = 1e-300 }), row(func(r *decodeRecord) { r.Latency = 1e300 }),
		row(func(r *decodeRecord) { r.Device = "NVIDIA B200" }), row(func(r *decodeRecord) { r.Device = "NVIDIA Engineering Sample" }), row(func(r *decodeRecord) { r.Batch = 1 << 62 }))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	if _, _, err := Score(path, func(s *Scored) { got = append(got, s.Reason) }); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "column latency is 1e-300: give milliseconds from 1e-06 to 1e+07", "column latency is 1e+300: give milliseconds from",
		`column device is "NVIDIA B200" and the table is of h100-sxm`, "", "column batch_size is 4.611686018427388e+18: give a whole number from 1 to 2147483648"} {
		if !strings.HasPrefix(got[i], want) || want == "" && got[i] != "" {
			t.Errorf("row %d: %q, want %q", i, got[i], want)
		}
	}
}

// A page that is damaged says where: file, column and row group.
func TestDamagedPagesSayWhere(t *testing.T) {
	data := decodeTable(t, goodDecode())
	for i := 4; i < 40; i++ { // the first column's page, behind the letters PAR1
		data[i] = 0xff
	}
	tab, err := readTable("x.parquet", bytes.NewReader(data), int64(len(data)))
	if err == nil {
		_, _, err = readRows(tab)
	}
	if err == nil || !strings.HasPrefix(err.Error(), "x.parquet: column op_name, row group 0: damaged or cut short") || !strings.HasSuffix(err.Error(), "copy the file again") {
		t.Error(err)
	}
}

func TestCausalPairs(t *testing.T) {
	count := func(s, prior, window int64) float64 {
		n := 0.0
		for i := range s {
			keys := prior + i + 1
			if window > 0 {
				keys = min(keys, window)
			}
			n += float64(keys)
		}
		return n
	}
	for _, x := range [][3]int64{{1, 0, 0}, {5, 0, 0}, {5, 7, 0}, {5, 0, 3}, {5, 7, 3}, {5, 2, 4}, {8, 0, 8}, {8, 0, 7}, {4, 9, 100}} {
		if got, want := causalPairs(x[0], x[1], x[2]), count(x[0], x[1], x[2]); got != want {
			t.Errorf("%v: %g pairs, counted %g", x, got, want)
		}
	}
}

// Absorbed attention reads latent and rope once per key, whatever the heads.
func TestAbsorbedReadsTheLatentOnce(t *testing.T) {
	op := absorbed(unit.BF16, unit.BF16, 2, 16, 100)
	if want := unit.Bytes(2*100*576*2 + 2*16*(576+512)*2); op.Bytes != want {
		t.Errorf("%d bytes, want %d", op.Bytes, want)
	}
}

func TestLoads(t *testing.T) {
	// Two tokens of two choices among eight experts on two ranks: experts 0 and 2 of
	// the first rank.
	if l := balanced(2, 2, 8, 2); l != (loads{2, 2, 4}) {
		t.Errorf("balanced: %+v", l)
	}
	if l := balanced(1024, 8, 256, 8); l != (loads{1024, 32, 32}) {
		t.Errorf("balanced: %+v", l)
	}
	for _, ep := range []int64{1, 4, 32} {
		for _, tokens := range []int64{1, 16, 512, 16384} {
			l := powerLaw(1.2, tokens, 8, 256, ep)
			all := float64(tokens * 8)
			if !(l.touched >= 1 && l.touched <= float64(256/ep) && l.rows >= min(all/float64(ep), all)*0.99 && l.rows <= all*1.5+1) {
				t.Errorf("ep %d, %d tokens: %+v", ep, tokens, l)
			}
		}
	}
	if _, why := loadsOf("power_law_x", 1, 1, 8, 1); why == "" {
		t.Error("an unknown distribution: want a reason")
	}
	if _, why := loadsOf("balanced", 1, 1, 8, 16); why == "" {
		t.Error("fewer experts than ranks: want a reason")
	}
}

// Rows that say nothing sensible are skipped with a reason that names the column;
// the others are scored.
func TestScoreNamesWhatIsWrong(t *testing.T) {
	bad := map[string]func(r *decodeRecord){
		"latency":        func(r *decodeRecord) { r.Latency = -1 },
		"batch_size":     func(r *decodeRecord) { r.Batch = 0 },
		"head_dim":       func(r *decodeRecord) { r.Dim = -5 },
		"attn_dtype":     func(r *decodeRecord) { r.Core = "fp3" },
		"kv_cache_dtype": func(r *decodeRecord) { r.Cache = "" },
		"step":           func(r *decodeRecord) { r.Step = -7 },
	}
	for column, spoil := range bad {
		r := goodDecode()
		spoil(&r)
		path := filepath.Join(t.TempDir(), "vllm-1-generation_attention_perf.parquet")
		if err := os.WriteFile(path, decodeTable(t, r, goodDecode()), 0o600); err != nil {
			t.Fatal(err)
		}
		var got []Scored
		gpu, kind, err := Score(path, func(s *Scored) { got = append(got, *s) })
		if err != nil || gpu != "h100-sxm" || kind != "decode attention" || len(got) != 2 {
			t.Fatalf("%s: %s %s %v %v", column, gpu, kind, got, err)
		}
		if !strings.Contains(got[0].Reason, column) || got[1].Reason != "" || !(got[1].Predicted > 0) {
			t.Errorf("%s: %+v", column, got)
		}
	}
}

// FuzzRows looks for panics and for predictions that are no time.
func FuzzRows(f *testing.F) {
	f.Add(decodeTable(f, goodDecode()))
	f.Add([]byte("PAR1PAR1"))
	m, err := tableMachine("h100-sxm", "vllm", decodeKind)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tab, err := readTable("x.parquet", bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		c, k, err := readRows(tab)
		if err != nil {
			return
		}
		for i := range c.rows {
			var x sample
			if k.row(c, i, &x) == "" && math.IsNaN(predict(m, nil, &x)) {
				t.Fatal("a prediction that is no number")
			}
		}
	})
}
