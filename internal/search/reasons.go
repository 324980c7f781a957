package search

import "github.com/ridgeline/ridgeline/internal/plan"

// blamed are the keys that can cause an illegal plan, most specific cause first.
var blamed = []struct {
	cause plan.Cause
	keys  []plan.Key
}{
	{plan.BadShard, []plan.Key{plan.KeyShard}},
	{plan.BadCombination, []plan.Key{plan.KeySP, plan.KeyZeRO, plan.KeyTuning, plan.KeyRank}},
	{plan.BadExperts, []plan.Key{plan.KeyEP, plan.KeyETP}},
	{plan.BadHeads, []plan.Key{plan.KeyTP, plan.KeyCP, plan.KeyCPComm}},
	{plan.BadSchedule, []plan.Key{plan.KeySchedule, plan.KeyVPP}},
	{plan.BadLayers, []plan.Key{plan.KeyPP, plan.KeyVPP}},
	{plan.BadSchedule, []plan.Key{plan.KeyPP}},
	{plan.BadSequence, []plan.Key{plan.KeyCP, plan.KeySP}},
	{plan.BadBatch, nil},
}

// Illegal words why a space without a legal plan has none: a cause that the
// user's own keys explain before one that only searched values met.
func (o *Outcome) Illegal(j *plan.Job, f *plan.Fixed) error {
	for _, b := range blamed {
		for _, k := range b.keys {
			p := o.Examples[b.cause]
			if p != nil && b.cause == plan.BadLayers && p.VPP > 1 && f != nil && !f.Has(plan.KeyVPP) {
				continue // the search's own vpp is too many parts, which says nothing of the pp that was given
			}
			if p != nil && f != nil && f.Has(k) {
				return p.Explain(b.cause, j)
			}
		}
	}
	for c := plan.NumCauses - 1; c > plan.Legal; c-- { // the latest check gets furthest
		if p := o.Examples[c]; p != nil {
			return p.Explain(c, j)
		}
	}
	return o.misfit
}
