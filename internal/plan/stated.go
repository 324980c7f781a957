package plan

import (
	"fmt"
	"strconv"
)

// numbers are the plan's figures by their keys.
func (p *Plan) numbers() map[Key]*int {
	return map[Key]*int{KeyTP: &p.TP, KeyPP: &p.PP, KeyVPP: &p.VPP, KeyDP: &p.DP, KeyCP: &p.CP, KeyEP: &p.EP,
		KeyETP: &p.ETP, KeyMBS: &p.MicroBatch, KeyShard: &p.ShardGroup, KeyRank: &p.LoRARank}
}

// Stated is f with the figures of layout, a text as Parse reads it, which somebody else states of the
// same plan. A key that f gives differently is an error.
func (f *Fixed) Stated(layout string) (*Fixed, error) {
	g, err := Parse(layout)
	if err != nil {
		return nil, err
	}
	mine, theirs := f.Plan.numbers(), g.Plan.numbers()
	for _, k := range keyOrder {
		switch n := theirs[k]; {
		case n == nil || !g.Has(k):
		case !f.Has(k):
			if f, err = f.With(k, strconv.Itoa(*n)); err != nil {
				return nil, err
			}
		case *mine[k] != *n:
			return nil, fmt.Errorf("the log states %s=%d, --plan has %s=%d: correct one of them", k, *n, k, *mine[k])
		}
	}
	return f, nil
}
