package plan

import "strconv"

// numbers are the plan's figures by their keys.
func (p *Plan) numbers() map[Key]*int {
	return map[Key]*int{KeyTP: &p.TP, KeyPP: &p.PP, KeyVPP: &p.VPP, KeyDP: &p.DP, KeyCP: &p.CP, KeyEP: &p.EP,
		KeyETP: &p.ETP, KeyMBS: &p.MicroBatch, KeyShard: &p.ShardGroup, KeyRank: &p.LoRARank}
}

// Difference is a figure that two statements of one plan give differently.
type Difference struct {
	Key           Key
	Given, Stated int
}

// Stated is f with the figures of layout, a text as Parse reads it, which somebody else states of the
// same plan; d is the first that f gives differently, nil where they agree.
func (f *Fixed) Stated(layout string) (whole *Fixed, d *Difference, err error) {
	g, err := Parse(layout)
	if err != nil {
		return nil, nil, err
	}
	mine, theirs := f.Plan.numbers(), g.Plan.numbers()
	for _, k := range keyOrder {
		switch n := theirs[k]; {
		case n == nil || !g.Has(k):
		case !f.Has(k):
			if f, err = f.With(k, strconv.Itoa(*n)); err != nil {
				return nil, nil, err
			}
		case *mine[k] != *n:
			return nil, &Difference{k, *mine[k], *n}, nil
		}
	}
	return f, nil, nil
}
