package calib

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
)

// loads is what the fullest rank of an expert group computes: rows in all, the
// experts that hold at least one, and those that the rank holds.
type loads struct {
	rows, touched float64
	held          int64
}

// loadsOf is the load of a tables' distribution: balanced, or power_law_A. tokens
// are those of the whole group of ep ranks.
func loadsOf(distribution string, tokens, topk, experts, ep int64) (loads, string) {
	if experts < ep || topk > experts || experts > maxExperts {
		return loads{}, fmt.Sprintf("column num_experts is %d: give one from the ranks and the choices to %d", experts, maxExperts)
	}
	if distribution == "balanced" {
		return balanced(tokens, topk, experts, ep), ""
	}
	exponent, ok := strings.CutPrefix(distribution, "power_law_")
	a, err := strconv.ParseFloat(exponent, 64)
	if !ok || err != nil || !(a > 0 && a < 10) {
		return loads{}, "unknown distribution " + distribution
	}
	return powerLaw(a, tokens, topk, experts, ep), ""
}

// balanced spreads tokens x topk choices evenly: choice i of a token takes the
// experts from i experts/topk on, one token after the other.
func balanced(tokens, topk, experts, ep int64) loads {
	local := experts / ep
	stride := (experts + topk - 1) / topk
	if tokens >= stride {
		rows := float64(tokens*topk) / float64(ep)
		return loads{rows, min(float64(local), rows), local}
	}
	seen := map[int64]bool{}
	rows := 0.0
	for t := range tokens {
		for i := range topk {
			if e := (t*stride/tokens + i*stride) % experts; e < local {
				seen[e] = true
				rows++
			}
		}
	}
	return loads{max(rows, 1), max(float64(len(seen)), 1), local}
}

// powerLaws keeps the sampled loads: many tables ask for the same.
var powerLaws sync.Map

type powerLawKey struct {
	a                         float64
	tokens, topk, experts, ep int64
}

// maxExperts bounds a layer; the tables hold at most 896.
const maxExperts = 1 << 14

// draws of the loads are averaged; their order is fixed by the seed.
const draws = 5

// powerLaw draws every expert's load from a density x^-a and gives the mean of the
// fullest rank over some draws. Loads reach from 1 to 0.8 tokens, or from 0.01 to
// 2 where there are fewer choices than experts, and are scaled to the choices in all.
func powerLaw(a float64, tokens, topk, experts, ep int64) loads {
	key := powerLawKey{a, tokens, topk, experts, ep}
	if v, ok := powerLaws.Load(key); ok {
		return v.(loads)
	}
	low, top := 1.0, 0.8*float64(tokens)
	if tokens*topk <= experts {
		low, top = 0.01, 2
	}
	r := rand.New(rand.NewPCG(uint64(tokens*topk), uint64(experts*ep)))
	x := make([]float64, experts)
	sum := loads{held: experts / ep}
	for range draws {
		l := fullest(drawn(x, r, a, low, top), float64(tokens*topk), int(experts/ep))
		sum.rows += l.rows / draws
		sum.touched += l.touched / draws
	}
	powerLaws.Store(key, sum)
	return sum
}

// drawn fills x by the inverse of the distribution function and gives the sum.
func drawn(x []float64, r *rand.Rand, a, low, top float64) []float64 {
	p := 1 - a
	if math.Abs(p) < 1e-9 {
		p = 1e-9
	}
	from, to := math.Pow(low, p), math.Pow(top, p)
	for i := range x {
		x[i] = math.Pow(from+(to-from)*r.Float64(), 1/p)
	}
	return x
}

// fullest scales x to total, rounds, and finds the fullest of the ranks that hold
// local experts each.
func fullest(x []float64, total float64, local int) loads {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	var best loads
	for at := 0; at+local <= len(x); at += local {
		var l loads
		for _, v := range x[at : at+local] {
			n := v / sum * total
			l.rows += n
			l.touched += min(1, math.Round(n))
		}
		if l.rows > best.rows {
			best = l
		}
	}
	best.touched = max(best.touched, 1)
	best.rows = max(best.rows, best.touched)
	return best
}
