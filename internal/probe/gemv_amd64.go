package probe

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:noescape
func dotF16x16(w, x unsafe.Pointer, blocks int, out *float32)

//go:noescape
func dotF16x8(w, x unsafe.Pointer, blocks int, out *float32)

//go:noescape
func dotQ8VNNI(w, x unsafe.Pointer, blocks int, out *float32)

//go:noescape
func dotQ8AVX2(w, x unsafe.Pointer, blocks int, out *float32)

//go:noescape
func dotQ4VNNI(w, x unsafe.Pointer, blocks int, out *float32)

//go:noescape
func dotQ4AVX2(w, x unsafe.Pointer, blocks int, out *float32)

// allGEMV lists the kernels that this machine runs, wider ones first.
func allGEMV() (list []gemvKernel) {
	const q8, q4 = gemvColumns / block * scaledBlock, gemvColumns / block * (2 + block/2)
	x := &cpu.X86
	if x.HasAVX512F && x.HasAVX512VL && x.HasAVX512BW && x.HasAVX512VNNI {
		list = append(list, gemvKernel{"fp16", "one row at a time, AVX-512", 1, 2 * gemvColumns, dotF16x16},
			gemvKernel{"q8_0", "one row at a time, AVX-512 VNNI", 1, q8, dotQ8VNNI}, gemvKernel{"q4_0", "eight rows side by side, AVX-512 VNNI", 8, q4, dotQ4VNNI})
	}
	if x.HasAVX2 && x.HasFMA && hasF16C() {
		list = append(list, gemvKernel{"fp16", "one row at a time, AVX2", 1, 2 * gemvColumns, dotF16x8},
			gemvKernel{"q8_0", "one row at a time, AVX2", 1, q8, dotQ8AVX2}, gemvKernel{"q4_0", "eight rows side by side, AVX2", 8, q4, dotQ4AVX2})
	}
	return list
}

// hasF16C is bit 29 of ECX of CPUID leaf 1.
func hasF16C() bool
