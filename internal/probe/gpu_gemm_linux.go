//go:build amd64 || arm64

package probe

import (
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

// precision is one way of cublasGemmEx: the type of A and B, and how it computes
// (library_types.h, cublas_api.h). C is FP32, so that products can be checked.
type precision struct {
	name          string
	kind, compute int32
	bytes         int
	encode        func(to []byte, v float32)
	tolerance     float64 // of one element over the mean size of an element: bits of the factors
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

// bf16 and fp16 cut off what they cannot hold; values are multiples of 1/64 below 1
// and survive whole.
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

var precisions = []precision{
	{"fp32", typeFP32, computeFP32, 4, float, 1e-3}, {"tf32", typeFP32, computeTF32, 4, float, 1e-2},
	{"bf16", typeBF16, computeFP32, 2, bf16, 1e-2}, {"fp16", typeFP16, computeFP32, 2, fp16, 1e-2},
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
	cif := make([]uint64, 16) // ffi_cif takes 32 to 48 bytes
	if code := b.ffi.prepare(unsafe.Pointer(&cif[0]), ffiABI[runtime.GOARCH], uint32(len(types)), w, unsafe.Pointer(&types[0])); code != ffiDone {
		return fmt.Errorf("ffi_prep_cif returns %d", code)
	}
	var result uint64 // ffi widens to a word
	var pin runtime.Pinner
	defer pin.Unpin()
	for _, p := range append([]unsafe.Pointer{alpha, beta}, arguments...) {
		pin.Pin((*byte)(p))
	}
	b.ffi.call(unsafe.Pointer(&cif[0]), b.gemmEx, unsafe.Pointer(&result), unsafe.Pointer(&arguments[0]))
	return failed("cublasGemmEx", int32(result))
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
			if err = s.product(b, &precisions[j], i); err != nil {
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

func (s *session) product(b *cublas, p *precision, device int) error {
	n := s.Size
	var at [3]address
	for i, size := range []int{p.bytes, p.bytes, 4} {
		var err error
		if at[i], err = s.buffer(int64(n) * int64(n) * int64(size)); err != nil {
			return err
		}
		defer s.cuda.free(at[i])
	}
	r := record.Result{Kind: record.GEMM, What: "gemm", Unit: "FLOP/s", Format: p.name, Kernel: "cublasGemmEx, FP32 result", M: int64(n), N: int64(n), K: int64(n)}
	for _, data := range []string{"zeros", "random"} {
		values := [2][]float32{make([]float32, n*n), make([]float32, n*n)}
		for i, v := range values {
			raw := make([]byte, n*n*p.bytes)
			rng := rand.New(rand.NewPCG(uint64(i), 7))
			for k := range v {
				if data == "random" {
					v[k] = float32(rng.IntN(127)-63) / 64
				}
				p.encode(raw[k*p.bytes:], v[k])
			}
			if err := failed("cuMemcpyHtoD", s.cuda.toDevice(at[i], unsafe.Pointer(&raw[0]), uint64(len(raw)))); err != nil {
				return err
			}
		}
		r.Data = data
		if err := s.measure(r, device, 2*float64(n)*float64(n)*float64(n), func() error { return b.multiply(p, n, at[0], at[1], at[2]) }); err != nil {
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
			want += float64(values[0][k*n+row]) * float64(values[1][col*n+k])
		}
		if v := float64(got[col*n+row]); !(math.Abs(v-want) <= p.tolerance*size) {
			return fmt.Errorf("%s product is wrong: element %d,%d is %g, not %g", p.name, row, col, v, want)
		}
	}
	return nil
}
