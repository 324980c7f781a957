package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// Length is a distribution of token counts: uniform over the whole numbers from
// Low to High, fixed where they are equal.
type Length struct{ Low, High int }

// ParseLength reads 1024 (fixed), 1024+-20% (uniform about it) or 820..1024
// (uniform between).
func ParseLength(s string) (Length, error) {
	fail := func() (Length, error) {
		return Length{}, fmt.Errorf("length %q: give tokens from 1 to %d, such as 1024, 1024+-20%% or 820..1024", s, MaxTokens)
	}
	if low, high, ok := strings.Cut(s, ".."); ok {
		l, errLow := unit.ParseCount(low)
		h, errHigh := unit.ParseCount(high)
		if errLow != nil || errHigh != nil || l < 1 || h < l || h > MaxTokens {
			return fail()
		}
		return Length{int(l), int(h)}, nil
	}
	middle, spread, ok := strings.Cut(s, "+-")
	n, err := unit.ParseCount(middle)
	if err != nil || n < 1 || n > MaxTokens {
		return fail()
	}
	if !ok {
		return Length{int(n), int(n)}, nil
	}
	x, err := unit.ParseFraction(strings.TrimSpace(spread))
	l := Length{int(math.Round(float64(n) * (1 - x))), int(math.Round(float64(n) * (1 + x)))}
	if err != nil || l.Low < 1 || l.High > MaxTokens {
		return fail()
	}
	return l, nil
}

// String prints the distribution as ParseLength reads it.
func (l Length) String() string {
	if l.Low == l.High {
		return strconv.Itoa(l.Low)
	}
	return fmt.Sprintf("%d..%d", l.Low, l.High)
}

// Varies tells whether the lengths differ.
func (l Length) Varies() bool { return l.Low < l.High }

// Mean is the expected length in tokens.
func (l Length) Mean() float64 { return (float64(l.Low) + float64(l.High)) / 2 }

// Spread is the coefficient of variation of the lengths, each as likely as another.
func (l Length) Spread() float64 { return float64(l.High-l.Low) / math.Sqrt(12) / l.Mean() }

// Draw takes one length. A fixed length draws too, so that a stream's later
// numbers do not depend on the spread.
func (l Length) Draw(rng *rand.Rand) int {
	u := rng.Float64()
	return l.Low + min(int(u*float64(l.High-l.Low+1)), l.High-l.Low)
}
