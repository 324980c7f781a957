package balance

import (
	"fmt"
	"math"
)

// Case is the routing of one layer whose imbalance is asked for.
type Case struct {
	Layout
	TopK     int       // experts per token
	Skew     float64   // power-law exponent of the experts' popularity, 0 = even; see PowerLaw
	Loads    []float64 // in place of Skew: the load of each expert, in any unit; nil = none given
	Balanced bool      // copies and places follow the loads (Place); otherwise experts lie in order
}

// Imbalance is by how much the fullest GPU of a layer exceeds the mean.
type Imbalance struct {
	Case         Case
	Balancedness float64 // mean over max with endless tokens
	topK         int
	table        [grid]float64 // max over mean at 2^i assignments
}

// The table covers 1 to 2^24 assignments; beyond, chance adds under 1 % even on
// a thousand GPUs.
const grid = 25

// orders is how many random orders of the experts a placement that depends on
// their order is averaged over; more changes no result by 3 %.
const orders = 16

// New prepares the imbalance of a case. Errors name the value that does not fit.
func New(c Case) (*Imbalance, error) {
	if c.TopK < 1 || c.TopK > c.Experts {
		return nil, fmt.Errorf("%d experts per token of %d: give 1 to %d", c.TopK, c.Experts, c.Experts)
	}
	loads, tries := c.Loads, 1
	if loads == nil {
		var err error
		if loads, err = PowerLaw(c.Experts, c.Skew); err != nil {
			return nil, err
		}
		if c.Skew > 0 && (!c.Balanced || c.Hierarchical()) {
			tries = orders
		}
	}
	place := InOrder
	if c.Balanced {
		place = Place
	}
	m := &Imbalance{Case: c, topK: c.TopK}
	most := 0.0 // mean over the orders of max over mean with endless tokens
	for order := range tries {
		own := loads
		if tries > 1 {
			own = shuffled(loads, uint64(order))
		}
		p, err := place(own, c.Layout)
		if err != nil {
			return nil, err
		}
		parts := shares(p.Loads)
		if parts == nil {
			return nil, fmt.Errorf("expert loads are all zero: give the tokens that each expert gets")
		}
		for i := range m.table {
			n := math.Ldexp(1, i)
			m.table[i] += fullest(parts, n) / n * float64(c.GPUs) / float64(tries)
		}
		most += 1 / p.Balancedness() / float64(tries)
	}
	m.Balancedness = 1 / most
	return m, nil
}

// At is max over mean of the tokens per GPU when tokens tokens of the expert
// group pass the layer at once; at least 1. It falls towards 1/Balancedness.
func (m *Imbalance) At(tokens float64) float64 {
	x := math.Log2(max(tokens*float64(m.topK), 1))
	i := int(x)
	if i >= grid-1 {
		return m.table[grid-1]
	}
	return m.table[i] + (x-float64(i))*(m.table[i+1]-m.table[i])
}
