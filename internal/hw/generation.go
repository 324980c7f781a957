package hw

// sameSM are generations whose SMs, caches and memory system are those of another, so that
// its kernels run on them as they are: Blackwell Ultra differs from Blackwell by the NVFP4
// rate, by more exponentials in attention and by memory, which the entries of its GPUs state
// (NVIDIA, "Inside NVIDIA Blackwell Ultra", 2025).
var sameSM = map[string]string{"blackwell-ultra": "blackwell"}

// Generation is the architecture under which kernels and engines were fitted that hold for
// arch: its own name but for variants of another.
func Generation(arch string) string {
	if of := sameSM[arch]; of != "" {
		return of
	}
	return arch
}
