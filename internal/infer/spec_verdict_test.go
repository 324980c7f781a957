package infer

import "testing"

// What is said from a batch on holds for all larger ones.
func TestVerdictHoldsForAllLargerBatches(t *testing.T) {
	verdict := func(speedups ...float64) SpecVerdict {
		var list []SpecPoint
		for i, s := range speedups {
			list = append(list, SpecPoint{Batch: 1 << i, Speedup: s})
		}
		return Verdict(list)
	}
	if v := verdict(1.99, 1.6, 1.4, 1.9, 1.96); v.Fades != 0 || v.Loses != 0 || v.Best.Batch != 1 || v.Worst.Batch != 4 {
		t.Errorf("a dip: %+v", v)
	}
	if v := verdict(1.99, 1.4, 1.9, 1.4, 1.2); v.Fades != 8 {
		t.Errorf("half is gone from %d, want 8", v.Fades)
	}
	if v := verdict(1.5, 0.9, 1.1, 1.2); v.Fades != 2 || v.Loses != 2 || v.Gains != 4 {
		t.Errorf("a loss that ends: %+v", v)
	}
	if v := verdict(1.5, 1.1, 0.9); v.Loses != 4 || v.Gains != 0 {
		t.Errorf("a loss that stays: %+v", v)
	}
}
