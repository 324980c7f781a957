//go:build !amd64

package probe

// tiles lists the machine's kernels.
func tiles() []tile { return []tile{plainTile} }
