package infer

import "math"

// turn is the steps of replicas of which each reads prompts or generates (Setup.Plan.DP of
// an engine with Profile.Separate): a sequence gets no token in the steps in which its own
// replica reads.
type turn struct {
	step float64 // mean time of one
	idle float64 // share of the steps in which a replica reads
	q    float64 // prompt chunks that all replicas read in one
}

// turn solves, where q chunks come in the time of a token,
//
//	token = step / (1 - idle),  q of a step = q (1 - idle)
//	idle  = 1 - exp(-q of a step / replicas)
//
// Those that come to a replica in one step are read together in the next one. They come
// when a replica generates, which each does once in that time, so in no more clumps than
// there are replicas; and no step reads more than fits.
func (r *reading) turn(q float64) turn {
	replicas := float64(r.s.e.setup.Plan.DP)
	clumps := -replicas * math.Expm1(-q/(replicas*replicas)) // that hold chunks of one replica
	most, least := clumps/(1+clumps), q/(q+r.most)
	var t turn
	for range settling {
		t.q = q * (1 - t.idle)
		next := max(min(-math.Expm1(-t.q/replicas), most), least)
		near := math.Abs(next-t.idle) < 1e-4
		if t.idle = (t.idle + next) / 2; near {
			break
		}
	}
	t.q = q * (1 - t.idle)
	t.step = r.mean(0, t.q)
	return t
}
