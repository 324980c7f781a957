package calib

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

// gemmRecord is a row as the kernel tables hold it.
type gemmRecord struct {
	Type    string  `parquet:"gemm_dtype"`
	M       int64   `parquet:"m"`
	N       int64   `parquet:"n"`
	K       int64   `parquet:"k"`
	Latency float64 `parquet:"latency"`
}

func gemmTable(t testing.TB, rows ...gemmRecord) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := parquet.Write(&b, rows); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func all() bool { return true }

func read(data []byte, dtype string) ([]sample, error) {
	t, err := readTable("x.parquet", bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	return gemmSamples(t, dtype, all)
}

func TestReadsRowsOfOneFormat(t *testing.T) {
	data := gemmTable(t, gemmRecord{"bfloat16", 1, 2, 3, 0.5}, gemmRecord{"fp8", 4, 5, 6, 0.25}, gemmRecord{"bfloat16", 2048, 8, 9, 2})
	got, err := read(data, "bfloat16")
	if err != nil {
		t.Fatal(err)
	}
	type shape struct {
		m, n, k                 int64
		seconds, rows, elements float64
		weight                  float64
	}
	var have []shape
	for _, x := range got {
		have = append(have, shape{x.ops[0].M, x.ops[0].N, x.ops[0].K, x.seconds, x.rows, x.elements, x.weight})
	}
	want := []shape{{1, 2, 3, 0.5e-3, 1, 3, 1}, {2048, 8, 9, 2e-3, 2048, 2048 * 9, 2}}
	if d := cmp.Diff(want, have, cmp.AllowUnexported(shape{})); d != "" {
		t.Error(d)
	}
}

func TestDamagedTablesAreErrorsOfOneLine(t *testing.T) {
	good := gemmTable(t, gemmRecord{"fp8", 4, 5, 6, 0.25})
	for why, data := range map[string][]byte{
		"empty":            {},
		"cut short":        good[:len(good)/2],
		"no latency":       gemmTable(t, gemmRecord{"fp8", 4, 5, 6, 0}),
		"negative latency": gemmTable(t, gemmRecord{"fp8", 4, 5, 6, -1}),
		"footer destroyed": append(bytes.Clone(good[:len(good)-20]), make([]byte, 20)...),
	} {
		_, err := read(data, "fp8")
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "x.parquet") {
			t.Errorf("%s: error %v, want one line that names the file", why, err)
		}
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, []struct{ Other int64 }{{1}}); err != nil {
		t.Fatal(err)
	}
	if _, err := read(b.Bytes(), "fp8"); err == nil || !strings.Contains(err.Error(), "gemm_dtype") {
		t.Errorf("missing column: error %v, want its name", err)
	}
}

// FuzzTable looks for panics on damaged files.
func FuzzTable(f *testing.F) {
	f.Add(gemmTable(f, gemmRecord{"fp8", 4, 5, 6, 0.25}, gemmRecord{"bfloat16", 1, 1, 1, 1}))
	f.Add([]byte("PAR1PAR1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := read(data, "fp8")
		if err == nil {
			for _, x := range rows {
				if !(x.seconds > 0) {
					t.Fatalf("row of %v s", x.seconds)
				}
			}
		}
	})
}

func TestDescendFindsTheBottom(t *testing.T) {
	x, y := 0.0, 9.0
	loss := func() float64 { return (x-3)*(x-3) + (y-1)*(y-1) + (x-3)*(y-1)/2 }
	if got := descend([]knob{{&x, 0, 10}, {&y, 0, 10}}, loss); got > 1e-3 {
		t.Errorf("loss %g at %g, %g, want 0 at 3, 1", got, x, y)
	}
	x = 9
	if descend([]knob{{&x, 5, 10}}, loss); x > 5.01 || x < 5 {
		t.Errorf("x = %g, want its lower limit 5", x)
	}
}

func TestMoERowsHoldTheirRank(t *testing.T) {
	x := moeSample(gemmFormats["bfloat16"], 4, 1024, 2048, 512, 256)
	if up, down := x.ops[0], x.ops[1]; up.Groups != 4 || up.M != 256 || up.N != 512 || up.K != 512 || down.N != 512 || down.K != 256 {
		t.Errorf("up %+v down %+v", up, down)
	}
	if want := 2 * 4 * 256 * 512 * 512; float64(x.ops[0].FLOPs) != float64(want) {
		t.Errorf("FLOPs %v, want %d", x.ops[0].FLOPs, want)
	}
}
