//go:build !amd64

package probe

// allGEMV lists the kernels for products with one vector. Compiled code would be several
// times slower than an engine's: where none is written here the probe says nothing.
func allGEMV() []gemvKernel { return nil }
