package infer

import (
	"math"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// budget deals the token budget of steps in which n sequences generate: what they leave of
// it is read from prompts. A prompt alone is read in equal chunks; where several are read,
// the scheduler fills the step with a part of the next one.
func (s *steady) budget(n float64) {
	dp := float64(s.e.setup.Plan.DP)
	s.left = float64(s.e.setup.MaxBatchTokens)
	if !s.e.profile.Separate {
		s.left = max(s.left-math.Ceil(n/dp)*s.rows(), 1)
	}
	s.chunks = s.pieces()
	s.chunk = int64(math.Ceil(s.l.fresh() / s.chunks))
	s.capacity = max(s.left/float64(s.chunk), 1) * dp
	s.last = nil
}

// pieces is how many steps read a prompt: full ones and the part of another that it takes or, where
// lengths vary by Spread, the mean of whole steps over lengths that lie evenly about theirs.
func (s *steady) pieces() float64 {
	fresh, half := s.l.fresh(), math.Sqrt(3)*s.l.Spread*float64(s.l.ISL)
	switch {
	case half > 0:
	case s.e.profile.Separate: // nothing fills the rest of the last step
		return math.Ceil(fresh / s.left)
	default:
		return max(fresh/s.left, 1)
	}
	n := 1.0
	for k := 1.0; k*s.left < fresh+half; k++ {
		n += min((fresh+half-k*s.left)/(2*half), 1)
	}
	return n
}

// rows is the tokens of a generating sequence in a step, drafts included.
func (s *steady) rows() float64 {
	if s.l.Spec == nil {
		return 1
	}
	return 1 + float64(s.l.Spec.Drafts)
}

// successors is how many sequences may generate so that the prompts of those who follow
// them fit into the steps beside them:
//
//	n rows + n/steps (ISL - cached) = token budget of all replicas
//
// Engines that read prompts apart put as many steps between as it takes.
func (s *steady) successors() float64 {
	if s.steps <= 0 || s.e.profile.Separate {
		return math.Inf(1)
	}
	return float64(s.e.setup.MaxBatchTokens) * float64(s.e.setup.Plan.DP) / (s.rows() + s.l.fresh()/s.steps)
}

// mixed is the time of a step with n generating sequences and k mean prompt chunks,
// or of both steps where the engine does not mix them. Of replicas that take turns those
// that read, one a chunk, do not generate.
func (s *steady) mixed(n, k float64) float64 {
	if k == 0 {
		return float64(s.decode(n).Total)
	}
	alone := unit.Seconds(0)
	if s.turns {
		n *= 1 - min(k/float64(s.e.setup.Plan.DP), 1)
	}
	if s.batch = s.generating(n); s.alone {
		alone, s.batch = s.st.Step(&s.batch).Total, Batch{}
	}
	s.prompts(k)
	return float64(alone + s.st.Step(&s.batch).Total)
}

// prompts adds k mean chunks to the batch. A step that is full of them, to a part of one,
// holds parts of left/(ISL - cached) + 1 prompts on each replica.
func (s *steady) prompts(k float64) {
	each := float64(s.chunk) * (float64(s.l.Cached) + s.l.fresh()/2) // mean over the prompt's chunks: half of what is read came before
	b := &s.batch
	b.Prefill, b.Prompts, b.PrefillPairs = int64(math.Round(k*float64(s.chunk))), int(math.Ceil(k)), k*each
	if k == s.capacity && k != math.Floor(k) {
		b.Prompts = s.e.setup.Plan.DP * int(math.Round(s.left/s.l.fresh()+1))
		b.Busiest = int64(math.Ceil(s.left))
	}
}
