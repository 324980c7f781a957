package cost

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/work"
)

// unevenness is the choices of the fullest GPU over the mean: at least that, at most all of them.
func unevenness(p placement, c *work.Comm) float64 { return min(max(c.Fullest, 1), float64(p.n)) }

// fullestGPU is distinctGPUs as the fullest GPU sees it: the tokens that it gets, times
// the GPUs.
func fullestGPU(p placement, c *work.Comm) float64 {
	return fuller(distinctGPUs(p, c), float64(p.n), choices(c), c.Fullest)
}

// fullestNode is the same of the node that holds the fullest GPU; its others get what is
// the mean of all others.
//
//	choices of the node over the mean = (F + (g-1) (n-F)/(n-1)) / g
func fullestNode(p placement, c *work.Comm) float64 {
	d, n, g := distinctNodes(p, c), float64(p.n), float64(p.inNode)
	if c.Fullest <= 1 || n <= 1 {
		return d
	}
	fullest := unevenness(p, c)
	return fuller(d, float64(p.nodes), choices(c), (fullest+(g-1)*(n-fullest)/(n-1))/g)
}

// fuller is d, the different ones of n boxes that a token's k choices lie in, as the box
// sees it that gets fullest times the mean of the choices: a token goes to it once
// however many of its choices it holds, and at most every token does.
//
//	even: d/n = 1 - (1-q)^k;  fuller = n (1 - (1 - min(1, fullest q))^k)
func fuller(d, n, k, fullest float64) float64 {
	if fullest <= 1 || n <= 1 || d >= n {
		return d
	}
	q := 1 - math.Pow(1-d/n, 1/k)
	return n * (1 - math.Pow(1-min(1, fullest*q), k))
}
