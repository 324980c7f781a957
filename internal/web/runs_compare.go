package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/compare"
	"github.com/ridgeline/ridgeline/internal/store"
)

// Comparison is two runs beside each other: as runs compare --json states it where
// they are measurements, or a prediction and a measurement; else every number that
// both documents state.
type Comparison struct {
	A           Run            `json:"a"`
	B           Run            `json:"b"`
	Pairs       []compare.Pair `json:"pairs" doc:"loads that both measurements were put under"`
	Unpaired    []string       `json:"unpaired"`
	Notes       []string       `json:"notes"`
	Gap         *compare.Gap   `json:"gap" doc:"a is a prediction and b a measurement"`
	Differences []Difference   `json:"differences"`
}

// Difference is one number of two runs.
type Difference struct {
	Path  string   `json:"path" doc:"where the documents state it, such as stages[0].ttft_ms.p50"`
	A     float64  `json:"a"`
	B     float64  `json:"b"`
	Ratio *float64 `json:"ratio" doc:"b over a, null where a is 0"`
}

func compared(a, b *store.Run) (*Comparison, error) {
	c := &Comparison{A: headOf(a), B: headOf(b), Pairs: []compare.Pair{}, Unpaired: []string{}, Notes: []string{}, Differences: []Difference{}}
	if known, err := api.CompareRuns(a, b); err == nil {
		c.A, c.B, c.Gap = headOf(known.A), headOf(known.B), known.Gap
		if m := known.Measured; m != nil {
			c.Pairs, c.Unpaired, c.Notes = m.Pairs, m.Unpaired, m.Notes
		}
		return c, nil
	} else if a.Kind != b.Kind {
		return nil, badInput(err)
	}
	var x, y any
	if err := errors.Join(json.Unmarshal(a.Document, &x), json.Unmarshal(b.Document, &y)); err != nil {
		return nil, err
	}
	c.walk("", x, y)
	return c, nil
}

// walk goes down both documents; lists are compared entry by entry.
func (c *Comparison) walk(at string, a, b any) {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			return
		}
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			c.walk(strings.TrimPrefix(at+"."+k, "."), x[k], y[k])
		}
	case []any:
		y, ok := b.([]any)
		if !ok {
			return
		}
		for i := range min(len(x), len(y)) {
			c.walk(fmt.Sprintf("%s[%d]", at, i), x[i], y[i])
		}
	case float64:
		y, ok := b.(float64)
		if !ok {
			return
		}
		d := Difference{Path: at, A: x, B: y}
		if r := y / x; x != 0 && !math.IsInf(r, 0) {
			d.Ratio = &r
		}
		c.Differences = append(c.Differences, d)
	}
}
