package validate_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/ridgeline/ridgeline/internal/validate"
)

const operatorTables = "../../../shared/measured/operators"

// productRecord is a row of a GEMM table.
type productRecord struct {
	Op      string  `parquet:"op_name"`
	Kernel  string  `parquet:"kernel_source"`
	Format  string  `parquet:"gemm_dtype"`
	M       int64   `parquet:"m"`
	N       int64   `parquet:"n"`
	K       int64   `parquet:"k"`
	Latency float64 `parquet:"latency"`
}

func writeTable(t *testing.T, dir, gpu, kind, name string, rows ...productRecord) {
	t.Helper()
	folder := filepath.Join(dir, gpu, kind)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, rows); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Valid rows are scored, a bad row and a damaged table are named with their reason,
// and predictions carry the row's id.
func TestOperatorsScoresWhatIsValid(t *testing.T) {
	dir := t.TempDir()
	good := productRecord{"gemm", "torch", "bfloat16", 64, 4096, 4096, 0.02}
	bad := good
	bad.Latency = 0
	writeTable(t, dir, "h100", "gemm", "vllm-1-gemm_perf.parquet", good, bad)
	writeTable(t, dir, "no-such-gpu", "gemm", "vllm-1-gemm_perf.parquet", good)
	if err := os.WriteFile(filepath.Join(dir, "h100", "gemm", "cut_perf.parquet"), []byte("PAR1 cut short"), 0o600); err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	d, err := validate.Operators(t.Context(), dir, &lines)
	if err != nil {
		t.Fatal(err)
	}
	if d.Rows != 2 || d.Scored != 1 || len(d.Skipped) != 3 || len(d.Groups) != 1 || d.Metrics[validate.MetricLatency].N != 1 {
		t.Fatalf("%+v", d)
	}
	for i, id := range []string{"h100/gemm/cut_perf.parquet", "h100/gemm/vllm-1-gemm_perf.parquet#1", "no-such-gpu/gemm/vllm-1-gemm_perf.parquet"} {
		if d.Skipped[i].ID != id || d.Skipped[i].Reason == "" || strings.Contains(d.Skipped[i].Reason, "\n") {
			t.Errorf("skipped %+v, want %s", d.Skipped[i], id)
		}
	}
	var line struct {
		ID                  string
		Measured, Predicted float64
	}
	if err := json.Unmarshal(lines.Bytes(), &line); err != nil || line.ID != "h100/gemm/vllm-1-gemm_perf.parquet#0" || math.Abs(line.Measured-0.02) > 1e-12 || !(line.Predicted > 0) {
		t.Errorf("%v: %s", err, lines.Bytes())
	}
}

func TestOperatorsNeedTables(t *testing.T) {
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "absent")} {
		if _, err := validate.Operators(t.Context(), path, nil); err == nil || !strings.Contains(err.Error(), "give") {
			t.Errorf("%s: error %v, want one that says what to give", path, err)
		}
	}
}

// Largest allowed median and mean error by kind over the published tables, about a
// tenth above what the constants reach; docs/accuracy.md has the figures.
func TestOperatorErrors(t *testing.T) {
	if _, err := os.Stat(operatorTables); err != nil {
		t.Skip("no measured kernel tables: ", err)
	}
	if testing.Short() {
		t.Skip("three million rows")
	}
	d, err := validate.Operators(t.Context(), operatorTables, nil)
	if err != nil {
		t.Fatal(err)
	}
	if float64(d.Scored) < 0.97*float64(d.Rows) {
		t.Errorf("%d of %d rows scored, want 97 %%", d.Scored, d.Rows)
	}
	most := map[string][2]float64{
		"gemm": {0.07, 0.10}, "moe": {0.105, 0.16}, "context attention": {0.09, 0.155}, "decode attention": {0.115, 0.17}, "context mla": {0.07, 0.14},
		"decode mla": {0.115, 0.16}, "mla context module": {0.105, 0.13}, "mla decode module": {0.105, 0.13}, "nccl": {0.06, 0.085},
		"custom all-reduce": {0.085, 0.19}, "deepep normal": {0.09, 0.115}, "deepep low latency": {0.08, 0.13},
	}
	// Tables of a kind weigh by their rows.
	sums := map[string][3]float64{}
	for i := range d.Groups {
		g := &d.Groups[i]
		s := sums[g.Key["kind"]]
		n := float64(g.N)
		sums[g.Key["kind"]] = [3]float64{s[0] + n, s[1] + n*g.MedianAPE, s[2] + n*g.MAPE}
	}
	for kind, s := range sums {
		median, mean := s[1]/s[0], s[2]/s[0]
		t.Logf("%-20s %8.0f rows, median %.3f mean %.3f", kind, s[0], median, mean)
		if limit, ok := most[kind]; !ok || median > limit[0] || mean > limit[1] {
			t.Errorf("%s: median %.3f mean %.3f, at most %v", kind, median, mean, limit)
		}
	}
}
