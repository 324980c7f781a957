package infer

import "slices"

// SpecPoint compares one decode step with and without speculation.
type SpecPoint struct {
	Batch       int // sequences
	Plain, Spec Step
	Cost        float64 // Spec.Total / Plain.Total
	Speedup     float64 // tokens per step / Cost
	Grew        Part    // the part that took most of the added time
}

// SpecCurve compares decode steps of each batch, every sequence with context KV
// tokens. Batches keep their order.
func SpecCurve(s *Speculative, context int64, batches []int) []SpecPoint {
	points := make([]SpecPoint, 0, len(batches))
	for _, n := range batches {
		b := &Batch{Decode: n, DecodeContext: int64(n) * context}
		p := SpecPoint{Batch: n, Plain: s.Target.Step(b), Spec: s.Step(b)}
		p.Cost = float64(p.Spec.Total / p.Plain.Total)
		p.Speedup = s.Spec.Tokens() / p.Cost
		for part := range NumParts {
			if p.Spec.Parts[part]-p.Plain.Parts[part] > p.Spec.Parts[p.Grew]-p.Plain.Parts[p.Grew] {
				p.Grew = part
			}
		}
		points = append(points, p)
	}
	return points
}

// SpecVerdict says where speculation pays. Batches are 0 where none qualifies.
type SpecVerdict struct {
	Best  SpecPoint // the largest speedup
	Fades int       // from this batch on all have less than half of the gain of Best
	Loses int       // first batch with a speedup below 1
	Gains int       // first batch after the last loss, where one is: it pays again
	Worst SpecPoint // the smallest speedup; larger batches may do better again, once every expert is touched anyway
}

// Verdict reads a curve whose batches rise; without points it is zero.
func Verdict(points []SpecPoint) (v SpecVerdict) {
	if len(points) == 0 {
		return v
	}
	best := 0
	v.Worst = points[0]
	for i, p := range points {
		if p.Speedup > points[best].Speedup {
			best = i
		}
		if p.Speedup < v.Worst.Speedup {
			v.Worst = p
		}
		if p.Speedup < 1 && v.Loses == 0 {
			v.Loses = p.Batch
		}
	}
	v.Best = points[best]
	for _, p := range slices.Backward(points[best+1:]) {
		if p.Speedup-1 >= (v.Best.Speedup-1)/2 {
			break
		}
		v.Fades = p.Batch
	}
	for _, p := range slices.Backward(points) {
		if p.Speedup < 1 {
			break
		}
		if v.Loses > 0 {
			v.Gains = p.Batch
		}
	}
	return v
}
