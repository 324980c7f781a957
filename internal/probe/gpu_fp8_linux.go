//go:build amd64 || arm64

package probe

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// FP8 products exist in cuBLASLt alone (cublasLt.h): A lies by rows and B by columns,
// the only order of Ada and Hopper, all sizes are multiples of 16.
const (
	typeE4M3         = 28 // CUDA_R_8F_E4M3
	ltTransposeA     = 3  // CUBLASLT_MATMUL_DESC_TRANSA
	ltFast           = 25 // CUBLASLT_MATMUL_DESC_FAST_ACCUM
	ltWorkspaceBytes = 1  // CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
	blasTransposed   = 1  // CUBLAS_OP_T
	blasUnsupported  = 15 // CUBLAS_STATUS_NOT_SUPPORTED
	fp8Multiple      = 16
	// ltWorkspace is what NVIDIA recommends for Hopper (cuBLAS guide, cublasSetWorkspace).
	ltWorkspace = 32 << 20
)

// e4m3 encodes multiples of 1/8 below 1, which its three bits of mantissa hold whole.
func e4m3(to []byte, v float32) {
	var half [2]byte
	fp16(half[:], v)
	if v != 0 {
		to[0] = half[1]&0x80 | (half[1]&0x7f-0x20)<<1&0x7f | half[0]>>7 // exponent bias 7 for 15, 3 bits for 10
		return
	}
	to[0] = 0
}

// Hopper adds up 14 bits: products over 4,096 are off by up to 2 % (arXiv:2412.19437,
// section 3.5.2), which grows with the root of the size; a wrong product is off by its size.
var precisionsFP8 = []precision{
	{name: "fp8", kernel: "cublasLtMatmul, E4M3, FP32 result", kind: typeE4M3, compute: computeFP32, bytes: 1, encode: e4m3, steps: 8, tolerance: 5e-2, transposed: true},
	{name: "fp8", kernel: "cublasLtMatmul, E4M3, FP32 result, fast accumulation", kind: typeE4M3, compute: computeFP32, bytes: 1, encode: e4m3, steps: 8, tolerance: 1e-1, transposed: true, fast: true},
}

// cublasLt is the library on one device.
type cublasLt struct {
	create                                  func(h *uintptr) int32
	destroy, dropDesc, dropLayout, dropPref func(h uintptr) int32
	newDesc                                 func(d *uintptr, compute, scale int32) int32
	newLayout                               func(l *uintptr, kind int32, rows, columns uint64, lead int64) int32
	newPref                                 func(p *uintptr) int32
	setDesc, setPref                        func(of uintptr, attribute int32, value unsafe.Pointer, size uint64) int32
	choose                                  func(h, desc, a, b, c, d, pref uintptr, most int32, result unsafe.Pointer, found *int32) int32
	ffi                                     *ffi
	matmul                                  uintptr
	handle                                  uintptr
}

func (g *GPU) cublasLt() (*cublasLt, error) {
	l, err := g.load("cublasLt")
	if err != nil {
		return nil, err
	}
	b := &cublasLt{}
	if err := l.bind(map[string]any{"cublasLtCreate": &b.create, "cublasLtDestroy": &b.destroy, "cublasLtMatmulDescCreate": &b.newDesc,
		"cublasLtMatmulDescDestroy": &b.dropDesc, "cublasLtMatmulDescSetAttribute": &b.setDesc, "cublasLtMatrixLayoutCreate": &b.newLayout,
		"cublasLtMatrixLayoutDestroy": &b.dropLayout, "cublasLtMatmulPreferenceCreate": &b.newPref, "cublasLtMatmulPreferenceDestroy": &b.dropPref,
		"cublasLtMatmulPreferenceSetAttribute": &b.setPref, "cublasLtMatmulAlgoGetHeuristic": &b.choose}); err != nil {
		return nil, err
	}
	if b.matmul, err = purego.Dlsym(l.handle, "cublasLtMatmul"); err != nil {
		return nil, fmt.Errorf("%s has no cublasLtMatmul: %w", l.name, err)
	}
	if l, err = g.load("ffi"); err != nil {
		return nil, fmt.Errorf("cublasLtMatmul takes 16 arguments, which need libffi: %w", err)
	}
	b.ffi, err = newFFI(l)
	return b, err
}

// choice is cublasLtMatmulHeuristicResult_t.
type choice struct {
	algorithm [8]uint64
	workspace uint64
	status    int32
	waves     float32
	reserved  [4]int32
}

// matmul is one kind of product on one device.
type matmul struct {
	lt                         *cublasLt
	desc, pref, factor, result uintptr
	chosen                     choice
}

// errNoFP8 tells that a GPU does not multiply FP8.
var errNoFP8 = errors.New("the GPU or the library has no FP8 product (Ada, Hopper and later have)")

// plan describes products of n x n matrices and lets the library choose a kernel.
func (b *cublasLt) plan(p *precision, n int) (*matmul, error) {
	m := &matmul{lt: b}
	transposed, fast, workspace := int32(blasTransposed), int8(0), uint64(ltWorkspace)
	if p.fast {
		fast = 1
	}
	size := uint64(n)
	var found int32
	for _, step := range []struct {
		name string
		call func() int32
	}{
		{"cublasLtMatmulDescCreate", func() int32 { return b.newDesc(&m.desc, p.compute, typeFP32) }},
		{"cublasLtMatmulDescSetAttribute TRANSA", func() int32 { return b.setDesc(m.desc, ltTransposeA, unsafe.Pointer(&transposed), 4) }},
		{"cublasLtMatmulDescSetAttribute FAST_ACCUM", func() int32 { return b.setDesc(m.desc, ltFast, unsafe.Pointer(&fast), 1) }},
		{"cublasLtMatrixLayoutCreate", func() int32 { return b.newLayout(&m.factor, p.kind, size, size, int64(n)) }},
		{"cublasLtMatrixLayoutCreate", func() int32 { return b.newLayout(&m.result, typeFP32, size, size, int64(n)) }},
		{"cublasLtMatmulPreferenceCreate", func() int32 { return b.newPref(&m.pref) }},
		{"cublasLtMatmulPreferenceSetAttribute", func() int32 { return b.setPref(m.pref, ltWorkspaceBytes, unsafe.Pointer(&workspace), 8) }},
		{"cublasLtMatmulAlgoGetHeuristic", func() int32 {
			return b.choose(b.handle, m.desc, m.factor, m.factor, m.result, m.result, m.pref, 1, unsafe.Pointer(&m.chosen), &found)
		}},
	} {
		code := step.call()
		if code == blasUnsupported {
			m.drop()
			return nil, errNoFP8
		}
		if err := failed(step.name, code); err != nil {
			m.drop()
			return nil, err
		}
	}
	if found == 0 || m.chosen.status != 0 {
		m.drop()
		return nil, errNoFP8
	}
	return m, nil
}

// drop gives back what plan made.
func (m *matmul) drop() {
	for _, d := range []struct {
		what uintptr
		drop func(uintptr) int32
	}{{m.pref, m.lt.dropPref}, {m.result, m.lt.dropLayout}, {m.factor, m.lt.dropLayout}, {m.desc, m.lt.dropDesc}} {
		if d.what != 0 {
			d.drop(d.what)
		}
	}
}

// multiply starts C = A B.
func (m *matmul) multiply(a, b, c, workspace address) error {
	one, zero, algorithm := float32(1), float32(0), &m.chosen.algorithm
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&one)
	pin.Pin(&zero)
	pin.Pin(m)
	words := []uintptr{m.lt.handle, m.desc, uintptr(unsafe.Pointer(&one)), uintptr(a), m.factor, uintptr(b), m.factor, uintptr(unsafe.Pointer(&zero)),
		uintptr(c), m.result, uintptr(c), m.result, uintptr(unsafe.Pointer(algorithm)), uintptr(workspace), ltWorkspace, 0}
	types, arguments := make([]uintptr, len(words)), make([]unsafe.Pointer, len(words))
	for i := range words {
		types[i], arguments[i] = m.lt.ffi.pointer, unsafe.Pointer(&words[i])
	}
	code, err := m.lt.ffi.invoke(m.lt.matmul, types, arguments)
	return cmp.Or(err, failed("cublasLtMatmul", code))
}

// productsFP8 measures FP8 on every GPU that has it.
func (s *session) productsFP8() error {
	if s.Size%fp8Multiple != 0 {
		return fmt.Errorf("size %d: give --size a multiple of %d", s.Size, fp8Multiple)
	}
	b, err := s.cublasLt()
	if err != nil {
		return err
	}
	for i := range s.contexts {
		if err := s.on(i); err != nil {
			return err
		}
		if err := failed("cublasLtCreate", b.create(&b.handle)); err != nil {
			return err
		}
		err := s.productsFP8Of(b, i)
		b.destroy(b.handle)
		if err != nil {
			return fmt.Errorf("gpu%d: %w", i, err)
		}
	}
	return nil
}

func (s *session) productsFP8Of(b *cublasLt, device int) error {
	workspace, err := s.buffer(ltWorkspace)
	if err != nil {
		return err
	}
	defer s.cuda.free(workspace)
	for i := range precisionsFP8 {
		m, err := b.plan(&precisionsFP8[i], s.Size)
		if err != nil {
			return err
		}
		err = s.product(&precisionsFP8[i], device, func(x, y, z address) error { return m.multiply(x, y, z, workspace) })
		m.drop()
		if err != nil {
			return err
		}
	}
	return nil
}
