//go:build amd64 || arm64

package probe

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/ridgeline/ridgeline/internal/record"
)

// precision is one way to multiply: the type of A and B, and how it computes
// (library_types.h, cublas_api.h). C is FP32, so that products can be checked.
type precision struct {
	name          string
	kernel        string
	kind, compute int32
	bytes         int
	encode        func(to []byte, v float32)
	steps         int     // random values are multiples of 1/steps below 1, which the type holds whole
	tolerance     float64 // of one element over the mean size of an element: bits of the factors
	transposed    bool    // A lies by rows
	fast          bool    // FP8 sums are kept in fewer bits than FP32's
}

const (
	typeFP32    = 0  // CUDA_R_32F
	typeFP16    = 2  // CUDA_R_16F
	typeBF16    = 14 // CUDA_R_16BF
	computeFP32 = 68 // CUBLAS_COMPUTE_32F
	computeTF32 = 77 // CUBLAS_COMPUTE_32F_FAST_TF32
	defaultAlgo = -1 // CUBLAS_GEMM_DEFAULT
)

func float(to []byte, v float32) { binary.LittleEndian.PutUint32(to, math.Float32bits(v)) }

// bf16 and fp16 cut off what they cannot hold; multiples of 1/64 below 1 survive whole.
func bf16(to []byte, v float32) {
	binary.LittleEndian.PutUint16(to, uint16(math.Float32bits(v)>>16))
}

func fp16(to []byte, v float32) {
	b := math.Float32bits(v)
	h := uint16(b>>16) & 0x8000
	if v != 0 {
		h |= uint16((int(b>>23&0xff)-127+15)<<10) | uint16(b>>13&0x3ff)
	}
	binary.LittleEndian.PutUint16(to, h)
}

const gemmEx = "cublasGemmEx, FP32 result"

var precisions = []precision{
	{name: "fp32", kernel: gemmEx, kind: typeFP32, compute: computeFP32, bytes: 4, encode: float, steps: 64, tolerance: 1e-3},
	{name: "tf32", kernel: gemmEx, kind: typeFP32, compute: computeTF32, bytes: 4, encode: float, steps: 64, tolerance: 1e-2},
	{name: "bf16", kernel: gemmEx, kind: typeBF16, compute: computeFP32, bytes: 2, encode: bf16, steps: 64, tolerance: 1e-2},
	{name: "fp16", kernel: gemmEx, kind: typeFP16, compute: computeFP32, bytes: 2, encode: fp16, steps: 64, tolerance: 1e-2},
}

// cublas is the library on one device.
type cublas struct {
	create  func(h *uintptr) int32
	destroy func(h uintptr) int32
	ffi     *ffi
	gemmEx  uintptr
	handle  uintptr
}

func (g *GPU) cublas() (*cublas, error) {
	l, err := g.load("cublas")
	if err != nil {
		return nil, err
	}
	b := &cublas{}
	if err := l.bind(map[string]any{"cublasCreate_v2": &b.create, "cublasDestroy_v2": &b.destroy}); err != nil {
		return nil, err
	}
	if b.gemmEx, err = purego.Dlsym(l.handle, "cublasGemmEx"); err != nil {
		return nil, err
	}
	if l, err = g.load("ffi"); err != nil {
		return nil, fmt.Errorf("cublasGemmEx takes 19 arguments, which need libffi: %w", err)
	}
	b.ffi, err = newFFI(l)
	return b, err
}

// multiply starts C = A B of n x n matrices, column-major as cuBLAS has them.
func (b *cublas) multiply(p *precision, n int, x, y, z address) error {
	one, zero := float32(1), float32(0)
	if p.compute == 0 {
		return errors.New("no compute type")
	}
	words := map[string]int32{"n": int32(n), "none": 0, "kind": p.kind, "result": typeFP32, "compute": p.compute, "algo": defaultAlgo}
	word := func(name string) unsafe.Pointer { v := words[name]; return unsafe.Pointer(&v) }
	alpha, beta := unsafe.Pointer(&one), unsafe.Pointer(&zero)
	arguments := []unsafe.Pointer{unsafe.Pointer(&b.handle), word("none"), word("none"), word("n"), word("n"), word("n"), unsafe.Pointer(&alpha),
		unsafe.Pointer(&x), word("kind"), word("n"), unsafe.Pointer(&y), word("kind"), word("n"), unsafe.Pointer(&beta),
		unsafe.Pointer(&z), word("result"), word("n"), word("compute"), word("algo")}
	w, q := b.ffi.word, b.ffi.pointer
	types := []uintptr{q, w, w, w, w, w, q, q, w, w, q, w, w, q, q, w, w, w, w}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&one)
	pin.Pin(&zero)
	code, err := b.ffi.invoke(b.gemmEx, types, arguments)
	return cmp.Or(err, failed("cublasGemmEx", code))
}

// products measures every precision on every GPU, with zeros, which draw less power,
// and at random, as weights are; random products are checked against the CPU's.
func (s *session) products() error {
	b, err := s.cublas()
	if err != nil {
		return err
	}
	for i := range s.contexts {
		if err := s.on(i); err != nil {
			return err
		}
		if err := failed("cublasCreate", b.create(&b.handle)); err != nil {
			return err
		}
		for j := range precisions {
			p := &precisions[j]
			if err = s.product(p, i, func(x, y, z address) error { return b.multiply(p, s.Size, x, y, z) }); err != nil {
				break
			}
		}
		b.destroy(b.handle)
		if err != nil {
			return err
		}
	}
	return nil
}

// product measures one precision on one GPU: multiply starts C = A B of the session's
// size.
func (s *session) product(p *precision, device int, multiply func(a, b, c address) error) error {
	n := s.Size
	var at [3]address
	for i, size := range []int{p.bytes, p.bytes, 4} {
		var err error
		if at[i], err = s.buffer(int64(n) * int64(n) * int64(size)); err != nil {
			return err
		}
		defer s.cuda.free(at[i])
	}
	r := record.Result{Kind: record.GEMM, What: "gemm", Unit: "FLOP/s", Format: p.name, Kernel: p.kernel, M: int64(n), N: int64(n), K: int64(n)}
	for _, data := range []string{"zeros", "random"} {
		values := [2][]float32{make([]float32, n*n), make([]float32, n*n)}
		for i, v := range values {
			raw := make([]byte, n*n*p.bytes)
			rng := rand.New(rand.NewPCG(uint64(i), 7))
			for k := range v {
				if data == "random" {
					v[k] = float32(rng.IntN(2*p.steps-1)-p.steps+1) / float32(p.steps)
				}
				p.encode(raw[k*p.bytes:], v[k])
			}
			if err := failed("cuMemcpyHtoD", s.cuda.toDevice(at[i], unsafe.Pointer(&raw[0]), uint64(len(raw)))); err != nil {
				return err
			}
		}
		r.Data = data
		if err := s.measure(r, device, 2*float64(n)*float64(n)*float64(n), func() error { return multiply(at[0], at[1], at[2]) }); err != nil {
			return err
		}
		if err := s.check(p, values, at[2]); err != nil {
			s.rec.Results = s.rec.Results[:len(s.rec.Results)-1]
			return err
		}
	}
	return nil
}

// checked is how many elements of a product are compared with the CPU's.
const checked = 16

// check compares elements of the product, spread over it, with sums in FP64.
func (s *session) check(p *precision, values [2][]float32, at address) error {
	n := s.Size
	got := make([]float32, n*n)
	if err := failed("cuMemcpyDtoH", s.cuda.toHost(unsafe.Pointer(&got[0]), at, uint64(4*len(got)))); err != nil {
		return err
	}
	size := math.Sqrt(float64(n)) / 3 // the spread of a sum of n products of values below 1
	for c := range checked {
		row, col := c*(n-1)/(checked-1), (c*7%checked)*(n-1)/(checked-1)
		want := 0.0
		for k := range n {
			a := k*n + row
			if p.transposed {
				a = row*n + k
			}
			want += float64(values[0][a]) * float64(values[1][col*n+k])
		}
		if v := float64(got[col*n+row]); !(math.Abs(v-want) <= p.tolerance*size) {
			return fmt.Errorf("%s product is wrong: element %d,%d is %g, not %g", p.name, row, col, v, want)
		}
	}
	return nil
}
