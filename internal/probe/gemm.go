package probe

import "unsafe"

// tile multiplies packed panels: C[rows x cols] += A[rows x k] B[k x cols], A packed
// rows a step, B cols a step, C with stride floats from row to row.
type tile struct {
	name       string
	rows, cols int
	multiply   func(k int, a, b, c *float32, stride int)
}

// plainTile is for processors without a kernel of their own here; compiled code
// reaches a fraction of what a vector library would.
var plainTile = tile{"compiled Go, tiles of 4 x 4, no vector instructions", 4, 4, plain}

// plain is plainTile's kernel.
func plain(k int, a, b, c *float32, stride int) {
	as, bs := unsafe.Slice(a, 4*k), unsafe.Slice(b, 4*k)
	var sums [4][4]float32
	for ; len(as) >= 4 && len(bs) >= 4; as, bs = as[4:], bs[4:] {
		for i := range 4 {
			for j := range 4 {
				sums[i][j] += as[i] * bs[j]
			}
		}
	}
	cs := unsafe.Slice(c, 3*stride+4)
	for i := range 4 {
		for j := range 4 {
			cs[i*stride+j] += sums[i][j]
		}
	}
}

// best is the kernel that gemm runs.
var best = tiles()[0]

func gemmKernel() string { return best.name }

// depth is the k of one packed block: a panel of B then takes 32 KB, an L1 cache.
const depth = 256

// gemm adds A B to C, row-major A[m x k], B[k x n], C[m x n], on the calling thread.
func gemm(m, n, k int, a, b, c []float32) { best.gemm(m, n, k, a, b, c) }

// gemm packs blocks of depth rows of B, then panels of A against all of them.
func (t *tile) gemm(m, n, k int, a, b, c []float32) {
	panels := (n + t.cols - 1) / t.cols
	pa, pb := make([]float32, t.rows*depth), make([]float32, panels*t.cols*depth)
	edge := make([]float32, t.rows*t.cols)
	for k0 := 0; k0 < k; k0 += depth {
		d := min(depth, k-k0)
		for p := range panels {
			t.packB(pb[p*t.cols*depth:], b, n, k0, d, p*t.cols)
		}
		for i := 0; i < m; i += t.rows {
			t.packA(pa, a, m, k, i, k0, d)
			for p := range panels {
				j := p * t.cols
				if i+t.rows <= m && j+t.cols <= n {
					t.multiply(d, &pa[0], &pb[p*t.cols*depth], &c[i*n+j], n)
					continue
				}
				clear(edge)
				t.multiply(d, &pa[0], &pb[p*t.cols*depth], &edge[0], t.cols)
				for r := range min(t.rows, m-i) {
					for s := range min(t.cols, n-j) {
						c[(i+r)*n+j+s] += edge[r*t.cols+s]
					}
				}
			}
		}
	}
}

// packA lays rows i.. of A side by side, step by step; rows beyond m are zero.
func (t *tile) packA(to, a []float32, m, k, i, k0, d int) {
	for r := range t.rows {
		for x := range d {
			v := float32(0)
			if i+r < m {
				v = a[(i+r)*k+k0+x]
			}
			to[x*t.rows+r] = v
		}
	}
}

// packB lays columns j.. of B side by side, step by step; columns beyond n are zero.
func (t *tile) packB(to, b []float32, n, k0, d, j int) {
	for x := range d {
		row := to[x*t.cols : (x+1)*t.cols]
		clear(row[copy(row, b[(k0+x)*n+j:(k0+x)*n+min(n, j+t.cols)]):])
	}
}

// sum adds two arrays of equal length as whole words, in eight chains so that no
// addition waits for the one before.
func sum(a, b []float64) uint64 {
	x := unsafe.Slice((*uint64)(unsafe.Pointer(&a[0])), len(a))
	y := unsafe.Slice((*uint64)(unsafe.Pointer(&b[0])), len(a))
	var s [8]uint64
	for ; len(x) >= 4 && len(y) >= 4; x, y = x[4:], y[4:] {
		s[0] += x[0]
		s[1] += x[1]
		s[2] += x[2]
		s[3] += x[3]
		s[4] += y[0]
		s[5] += y[1]
		s[6] += y[2]
		s[7] += y[3]
	}
	return s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7]
}
