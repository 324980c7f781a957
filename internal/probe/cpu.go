package probe

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/ridgeline/ridgeline/internal/record"
)

// CPU is what to measure on the CPU. The zero value takes the defaults.
type CPU struct {
	Threads []int         // counts to try; nil = 1 and doubling up to all cores
	Bytes   int64         // of each array and of the largest working set; 0 = DefaultArray
	Size    int           // M = N = K of the products; 0 = 1024
	Repeats int           // of every measurement; 0 = 7
	Formats []string      // of the weights that are multiplied with one vector; nil = all
	Pause   time.Duration // between repeats, so that they see the machine at several times
	Done    func(done, all int)
}

// DefaultArray is the bytes of one array, all threads together: three of them pass the
// last-level cache of most machines; STREAM asks for four times the cache, so larger
// caches want larger arrays.
const DefaultArray = 256 << 20

func (c *CPU) defaults() {
	if len(c.Threads) == 0 {
		for n := 1; n < runtime.NumCPU(); n *= 2 {
			c.Threads = append(c.Threads, n)
		}
		c.Threads = append(c.Threads, runtime.NumCPU())
	}
	if c.Bytes == 0 {
		c.Bytes = DefaultArray
	}
	if c.Size == 0 {
		c.Size = 1024
	}
	if c.Repeats == 0 {
		c.Repeats = 7
	}
}

// Check refuses what cannot be measured.
func (c *CPU) Check() error {
	for _, n := range c.Threads {
		if n < 1 || n > 4*runtime.NumCPU() {
			return fmt.Errorf("%d threads on %d cores: give 1 to %d", n, runtime.NumCPU(), 4*runtime.NumCPU())
		}
	}
	switch {
	case c.Bytes != 0 && (c.Bytes < 1<<20 || c.Bytes > 1<<36):
		return fmt.Errorf("arrays of %d bytes: give 1 MiB to 64 GiB", c.Bytes)
	case c.Size != 0 && (c.Size < 64 || c.Size > 1<<14):
		return fmt.Errorf("products of size %d: give 64 to 16384", c.Size)
	case c.Repeats < 0 || c.Repeats > 1000:
		return fmt.Errorf("%d repeats: give 1 to 1000", c.Repeats)
	}
	return nil
}

// task is one measured kernel on result.Threads threads: work of one of them, amount of it in bytes or FLOPs.
type task struct {
	result record.Result
	amount float64
	run    func(thread int)
}

// Run measures; a cancelled context ends it after the measurement that runs, with
// Partial set.
func (c *CPU) Run(ctx context.Context, rec *record.Record) error {
	if err := c.Check(); err != nil {
		return err
	}
	c.defaults()
	most := 0
	for _, n := range c.Threads {
		most = max(most, n)
	}
	tasks := c.tasks(most)
	for i, t := range tasks {
		if ctx.Err() != nil {
			rec.Partial = true
			return nil
		}
		rec.Results = append(rec.Results, c.measure(ctx, &t))
		if c.Done != nil {
			c.Done(i+1, len(tasks))
		}
	}
	return nil
}

// tasks are all measurements, by number of threads, of which most is the largest.
func (c *CPU) tasks(most int) (list []task) {
	arrays := newArrays(c.Bytes/int64(most), most)
	mats := newMatrices(c.Size, most)
	weights := newVectors(c.Bytes, most)
	kernels, sizes := gemvKernels(), gemvSizes(c.Bytes)
	for _, n := range c.Threads {
		list = append(list, arrays.read(n), arrays.triad(n), mats.product(n))
		for k := range kernels {
			if len(c.Formats) > 0 && !slices.Contains(c.Formats, kernels[k].format) {
				continue
			}
			list = append(list, weights.short(&kernels[k], n)...)
			for _, set := range sizes {
				if t := weights.product(&kernels[k], set, n, gemvColumns); t.amount > 0 {
					list = append(list, t)
				}
			}
		}
	}
	return list
}

// measure repeats a task on n threads and keeps the samples that were begun.
func (c *CPU) measure(ctx context.Context, t *task) record.Result {
	n := t.result.Threads
	together(n, t.run) // pages and caches
	var rates []float64
	busy, wall := 0.0, 0.0
	for range c.Repeats {
		spent, took := together(n, t.run)
		rates = append(rates, t.amount/spent)
		busy, wall = busy+spent, wall+took
		if ctx.Err() != nil {
			break
		}
		time.Sleep(c.Pause)
	}
	r := t.result
	r.Device, r.CPUShare = "cpu", min(1, busy/wall)
	r.Summarize(rates)
	return r
}

// together runs a task on n threads of their own and gives the seconds of the one
// that took longest: of its CPU time where the system tells it, and of wall time.
func together(n int, run func(thread int)) (busy, wall float64) {
	var wg sync.WaitGroup
	spent, took := make([]float64, n), make([]float64, n)
	begin := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			<-begin
			start := time.Now()
			before, known := threadTime()
			run(i)
			after, _ := threadTime()
			took[i] = time.Since(start).Seconds()
			spent[i] = took[i]
			if known {
				spent[i] = (after - before).Seconds()
			}
		})
	}
	close(begin)
	wg.Wait()
	for i := range n {
		busy, wall = max(busy, spent[i]), max(wall, took[i])
	}
	return busy, wall
}

// arrays are three arrays per thread, each on pages that its thread touched first.
type arrays struct {
	a, b, c [][]float64
	sink    []uint64
}

func newArrays(bytes int64, threads int) *arrays {
	x := &arrays{sink: make([]uint64, threads)}
	for range threads {
		x.a = append(x.a, make([]float64, bytes/8))
		x.b = append(x.b, make([]float64, bytes/8))
		x.c = append(x.c, make([]float64, bytes/8))
	}
	together(threads, func(t int) {
		for i := range x.b[t] {
			x.a[t][i], x.b[t][i], x.c[t][i] = 0, float64(i%7), float64(i%11)
		}
	})
	return x
}

// read sums two arrays as whole words: 8 bytes an element.
func (x *arrays) read(n int) task {
	bytes := float64(16 * len(x.b[0]) * n)
	return task{amount: bytes, result: record.Result{Kind: record.Memory, What: "read", Unit: "bytes/s", Threads: n, Format: "fp64", Bytes: int64(bytes),
		Data: "pattern", Kernel: "sum of two arrays side by side"},
		run: func(t int) { x.sink[t] += sum(x.b[t], x.c[t]) }}
}

// triad is STREAM's: a = b + s c, 24 bytes an element; the read of a that a store
// without a hint causes is not counted, as in STREAM.
func (x *arrays) triad(n int) task {
	bytes := float64(24 * len(x.b[0]) * n)
	return task{amount: bytes, result: record.Result{Kind: record.Memory, What: "triad", Unit: "bytes/s", Threads: n, Format: "fp64", Bytes: int64(bytes),
		Data: "pattern", Kernel: "a = b + s c (STREAM)"},
		run: func(t int) { triad(x.a[t], x.b[t], x.c[t], 3) }}
}

func triad(a, b, c []float64, s float64) {
	b, c = b[:len(a)], c[:len(a)]
	for i := range a {
		a[i] = b[i] + s*c[i]
	}
}

// matrices are square and filled at random, A and B of each thread its own.
type matrices struct {
	n       int
	a, b, c [][]float32
}

func newMatrices(n, threads int) *matrices {
	m := &matrices{n: n}
	rng := rand.New(rand.NewPCG(1, 2))
	for range threads {
		a, b := make([]float32, n*n), make([]float32, n*n)
		for i := range a {
			a[i], b[i] = rng.Float32()-0.5, rng.Float32()-0.5
		}
		m.a, m.b, m.c = append(m.a, a), append(m.b, b), append(m.c, make([]float32, n*n))
	}
	return m
}

// product multiplies FP32 matrices, one product per thread.
func (m *matrices) product(threads int) task {
	flops := 2 * float64(m.n) * float64(m.n) * float64(m.n) * float64(threads)
	return task{amount: flops, result: record.Result{Kind: record.GEMM, What: "gemm", Unit: "FLOP/s", Threads: threads, Format: "fp32", Data: "random",
		Kernel: gemmKernel(), M: int64(m.n), N: int64(m.n), K: int64(m.n)},
		run: func(t int) { gemm(m.n, m.n, m.n, m.a[t], m.b[t], m.c[t]) }}
}
