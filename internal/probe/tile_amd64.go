package probe

import "golang.org/x/sys/cpu"

//go:noescape
func tile512(k int, a, b, c *float32, stride int)

//go:noescape
func tile256(k int, a, b, c *float32, stride int)

// tiles lists the machine's kernels, widest first.
func tiles() []tile {
	var list []tile
	if cpu.X86.HasAVX512F {
		list = append(list, tile{"AVX-512, tiles of 12 x 32", 12, 32, tile512})
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		list = append(list, tile{"AVX2 and FMA, tiles of 6 x 16", 6, 16, tile256})
	}
	return append(list, plainTile)
}
