package infer

// Doubt is why the means of a Point do not speak for single requests although there is room for
// all of them: the closed form does not know how requests fall together.
type Doubt uint8

// The doubts. Without any, and with room (see Point.Valid), a simulation of the same load gives means
// within 10 % (time per token, tokens/s) and 25 % (first token); TestTheClosedFormSaysWhereItHolds of
// package serve walks both.
const (
	NoDoubt Doubt = iota
	Crowded       // prompts take more than half of the time
	Clumped       // equal requests that are read together come back together
	Parted        // equal requests that are read before others generate on, parted by their drafts
)

var doubtNames = [...]string{
	"",
	"prompts take more than half of the time, and how they share steps decides",
	"equal requests that are read in one step come back together and are read together again",
	"drafts that hold by chance part equal requests that were read together",
}

// String says it in a clause, "" without a doubt.
func (d Doubt) String() string { return doubtNames[d] }

// Agrees tells whether percentiles may be asked of a simulation in which these means hold.
func (p *Point) Agrees() bool { return p.Valid() && p.Doubt == NoDoubt }

const (
	crowding = 0.5 // of the time, see Crowded
	// clumping is the most requests that a user may find in the step that reads its own because
	// they came with it a round before.
	clumping = 0.25
)

// doubt is that of a point with n generating sequences.
func (s *steady) doubt(p *Point, n float64) Doubt {
	switch {
	case s.clients <= 1 || s.steps <= 0:
		return NoDoubt
	case p.Prompts > crowding:
		return Crowded
	case s.clumps(n) > clumping:
		return Clumped
	}
	return NoDoubt
}

// clumps is how many others a user of equal requests finds read together with its own because they
// were before: those who come while a step with prompts lasts, for as many rounds as its length has times to
// the queue. Only these times, drawn for each request, part users whose answers end in the same step.
func (s *steady) clumps(n float64) float64 {
	seen := n * s.others
	q := s.read(seen)
	if !s.l.Fixed || s.e.profile.Separate || q <= 0 {
		return 0
	}
	g := s.reading(max(seen, 1)).groups(q)
	return g.rate * g.long * (g.long - g.idle) / max(s.entry, 1e-9)
}
