package infer

// Reached is what real disaggregated runs keep of the rate-matched throughput:
// they fall up to a quarter below it (modelling notes, section 6).
const Reached = 0.75

// Kept is what an estimate takes of it: the middle between all of it and Reached.
const Kept = (1 + Reached) / 2

// Role prices the steps of a worker in one of two roles. The published loss is of the
// throughput of both; it is taken as pace, alike in either role, so that times and rates
// stay those of one service (Little's law): a step takes 1/Kept of the time that Inner
// states, at most 1/Reached, all its parts alike but the waits for the latency between
// nodes, which no loss of pace makes longer.
type Role struct{ Inner Stepper }

// Step is Inner's at the pace of a role.
func (r *Role) Step(b *Batch) Step {
	s := r.Inner.Step(b)
	wire := min(s.Wire, s.Parts[Communication])
	s.Upper = max(s.Upper, (s.Total-wire)/Reached+wire)
	s.Total, s.Pipes, s.Memory = (s.Total-wire)/Kept+wire, s.Pipes/Kept, s.Memory/Kept
	s.Parts[Communication] -= wire
	for p := range s.Parts {
		s.Parts[p] /= Kept
	}
	s.Parts[Communication] += wire
	return s
}
