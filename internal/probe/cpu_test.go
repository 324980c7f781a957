package probe

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ridgeline/ridgeline/internal/record"
)

// Every kernel of this machine gives the product, edges included.
func TestTilesMultiply(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, k := range tiles() {
		for _, s := range [][3]int{{1, 1, 1}, {12, 32, 256}, {13, 33, 257}, {50, 70, 300}, {5, 100, 7}} {
			m, n, d := s[0], s[1], s[2]
			a, b, c := make([]float32, m*d), make([]float32, d*n), make([]float32, m*n)
			for i := range a {
				a[i] = rng.Float32() - 0.5
			}
			for i := range b {
				b[i] = rng.Float32() - 0.5
			}
			for i := range c {
				c[i] = float32(i % 3)
			}
			k.gemm(m, n, d, a, b, c)
			for i := range m {
				for j := range n {
					want := float64((i*n + j) % 3)
					for x := range d {
						want += float64(a[i*d+x]) * float64(b[x*n+j])
					}
					if got := float64(c[i*n+j]); math.Abs(got-want) > 1e-4 {
						t.Fatalf("%s %v: C[%d,%d] = %g, want %g", k.name, s, i, j, got, want)
					}
				}
			}
		}
	}
}

func TestSumReadsEveryWord(t *testing.T) {
	a, b := make([]float64, 64), make([]float64, 64)
	none := sum(a, b)
	for i := range a {
		a[i] = 1
		if sum(a, b) == none {
			t.Errorf("word %d of the first array is not read", i)
		}
		a[i], b[i] = 0, 1
		if sum(a, b) == none {
			t.Errorf("word %d of the second array is not read", i)
		}
		b[i] = 0
	}
}

func TestCPUProbeFillsARecord(t *testing.T) {
	var rec record.Record
	calls := 0
	c := CPU{Threads: []int{1, 2}, Bytes: 1 << 20, Size: 64, Repeats: 2, Done: func(done, all int) { calls = all - done }}
	if err := c.Run(t.Context(), &rec); err != nil {
		t.Fatal(err)
	}
	want := 6 + 2*3*len(gemvKernels()) // a working set and two lengths of rows
	if len(rec.Results) != want || calls != 0 || rec.Partial {
		t.Fatalf("%d results, %d open, partial %v; want %d, none, false", len(rec.Results), calls, rec.Partial, want)
	}
	if err := rec.Check("test"); err != nil {
		t.Error(err)
	}
	for _, r := range rec.Results {
		if r.Repeats != 2 || r.Kernel == "" || r.Data == "" || !(r.CPUShare > 0) || r.Best < r.Value {
			t.Errorf("result lacks how it was made: %+v", r)
		}
	}
	rec, c.Formats = record.Record{}, []string{"q8_0"}
	if err := c.Run(t.Context(), &rec); err != nil || len(rec.Results) != 6+2*3 {
		t.Errorf("one format: %d results, want %d (%v)", len(rec.Results), 6+2*3, err)
	}
}

// What was measured before the interruption stays.
func TestInterruptedProbeKeepsResults(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var rec record.Record
	c := CPU{Threads: []int{1, 2}, Bytes: 1 << 20, Size: 64, Repeats: 1, Done: func(done, _ int) {
		if done == 2 {
			cancel()
		}
	}}
	if err := c.Run(ctx, &rec); err != nil || !rec.Partial || len(rec.Results) != 2 {
		t.Errorf("error %v, partial %v, %d results: want none, true, 2", err, rec.Partial, len(rec.Results))
	}
}

func TestImpossibleProbesAreRefused(t *testing.T) {
	for _, c := range []CPU{{Threads: []int{0}}, {Threads: []int{1 << 20}}, {Bytes: 1}, {Size: 1}, {Repeats: -1}} {
		if c.Check() == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}

func BenchmarkGEMM(b *testing.B) {
	m := newMatrices(1024, 1)
	p := m.product(1)
	for b.Loop() {
		together(1, p.run)
	}
}
