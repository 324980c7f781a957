package balance

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Given is the measured load of each expert of a layer, in any unit: tokens, shares.
type Given struct{ Each []float64 }

// ReadGiven reads numbers apart by commas, blanks or line ends, an expert each. Errors
// are one line and name the line of the text; name is what they call it.
func ReadGiven(r io.Reader, name string) (*Given, error) {
	g, sum := &Given{}, 0.0
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		for _, word := range strings.FieldsFunc(lines.Text(), func(c rune) bool { return c == ',' || c == ' ' || c == '\t' || c == '\r' }) {
			v, err := strconv.ParseFloat(word, 64)
			if err != nil || !(v >= 0) || v > maxLoad {
				return nil, fmt.Errorf("%s, line %d: %.40q is no load of an expert: give numbers from 0 to %g", name, n, word, float64(maxLoad))
			}
			if g.Each = append(g.Each, v); len(g.Each) > maxExperts {
				return nil, fmt.Errorf("%s, line %d: more than %d loads: give one per expert of a layer", name, n, maxExperts)
			}
			sum += v
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w: give numbers apart by commas, blanks or line ends", name, err)
	}
	if !(sum > 0) {
		return nil, fmt.Errorf("%s holds no load above 0: give one number per expert of a layer", name)
	}
	return g, nil
}

// maxLoad bounds a load, so that sums stay exact enough.
const maxLoad = 1e15

// Shares are the loads over their sum.
func (g *Given) Shares() []float64 {
	sum := 0.0
	for _, w := range g.Each {
		sum += w
	}
	out := make([]float64, len(g.Each))
	for i, w := range g.Each {
		out[i] = w / sum
	}
	return out
}

// Most is the largest share.
func (g *Given) Most() float64 { return slices.Max(g.Shares()) }
