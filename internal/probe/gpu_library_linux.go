//go:build amd64 || arm64

package probe

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// The files that hold each library, newest first.
var libraryFiles = map[string][]string{
	"cuda":     {"libcuda.so.1", "libcuda.so"},
	"cublas":   {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"},
	"cublasLt": {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11", "libcublasLt.so"},
	"nvml":     {"libnvidia-ml.so.1", "libnvidia-ml.so"},
	"nccl":     {"libnccl.so.2", "libnccl.so"},
	"ffi":      {"libffi.so.8", "libffi.so.7", "libffi.so.6", "libffi.so"},
}

// library is a loaded one; missing symbols are errors, never calls into nothing.
type library struct {
	name   string
	handle uintptr
}

func (g *GPU) load(name string) (*library, error) {
	files := libraryFiles[name]
	if own := g.Libraries[name]; own != "" {
		files = []string{own}
	}
	var last error
	for _, f := range files {
		h, err := purego.Dlopen(f, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err == nil {
			return &library{f, h}, nil
		}
		last = err
	}
	return nil, fmt.Errorf("%s: %w", files[0], last)
}

// bind fills functions from symbols of the library.
func (l *library) bind(into map[string]any) error {
	for symbol, f := range into {
		p, err := purego.Dlsym(l.handle, symbol)
		if err != nil {
			return fmt.Errorf("%s has no %s: %w", l.name, symbol, err)
		}
		purego.RegisterFunc(f, p)
	}
	return nil
}

// ffi calls functions with more arguments than purego passes (15), as cublasGemmEx
// has 19 and cublasLtMatmul 16, through libffi, which every Linux with Python or GLib has.
type ffi struct {
	prepare func(cif unsafe.Pointer, abi, n uint32, result uintptr, arguments unsafe.Pointer) int32
	call    func(cif unsafe.Pointer, function uintptr, result, arguments unsafe.Pointer)
	word    uintptr // ffi_type_sint32
	pointer uintptr // ffi_type_pointer
}

// The default calling convention (ffitarget.h): FFI_UNIX64 on x86-64, FFI_SYSV on Arm.
var ffiABI = map[string]uint32{"amd64": 2, "arm64": 1}

// ffiDone is FFI_OK.
const ffiDone = 0

func newFFI(l *library) (*ffi, error) {
	f := &ffi{}
	err := l.bind(map[string]any{"ffi_prep_cif": &f.prepare, "ffi_call": &f.call})
	for symbol, to := range map[string]*uintptr{"ffi_type_sint32": &f.word, "ffi_type_pointer": &f.pointer} {
		if err == nil {
			*to, err = purego.Dlsym(l.handle, symbol)
		}
	}
	return f, err
}

// invoke calls a function that returns a status; arguments point to what is passed, of
// types' kinds. Everything that they point to must be pinned or live outside Go.
func (f *ffi) invoke(function uintptr, types []uintptr, arguments []unsafe.Pointer) (int32, error) {
	cif := make([]uint64, 16) // ffi_cif takes 32 to 48 bytes
	if code := f.prepare(unsafe.Pointer(&cif[0]), ffiABI[runtime.GOARCH], uint32(len(types)), f.word, unsafe.Pointer(&types[0])); code != ffiDone {
		return 0, fmt.Errorf("ffi_prep_cif returns %d", code)
	}
	var result uint64 // ffi widens to a word
	var pin runtime.Pinner
	defer pin.Unpin()
	for _, p := range arguments {
		pin.Pin((*byte)(p))
	}
	f.call(unsafe.Pointer(&cif[0]), function, unsafe.Pointer(&result), unsafe.Pointer(&arguments[0]))
	return int32(result), nil
}
