package deploy

import "github.com/ridgeline/ridgeline/internal/plan"

// Layout is one deployment: instances that read prompts and generate, or, where
// Split is set, instances for each of the two.
type Layout struct {
	plan.Serving // the instance and its replicas; without meaning where Split is set
	Split        *plan.Disaggregated
}

// GPUs is what the whole deployment occupies.
func (l *Layout) GPUs() int {
	if l.Split != nil {
		return l.Split.Total()
	}
	return l.Total()
}

// String is the layout as --plan reads it.
func (l *Layout) String() string {
	if l.Split != nil {
		return l.Split.String()
	}
	return l.Serving.String()
}

// simplicity orders points that perform alike: fewer GPUs first, then one role,
// fewer kinds of parallelism, and no limits of their own.
func (p *Point) simplicity() int {
	kinds := func(s *plan.Serving) (n int) {
		for _, d := range []int{s.TP, s.PP, s.DP, s.EP, s.DCP} {
			if d > 1 {
				n += 2
			}
		}
		return n
	}
	l := &p.Layout
	n := 1000 * l.GPUs()
	if l.Split != nil {
		return n + 100 + kinds(&l.Split.Prefill) + kinds(&l.Split.Decode)
	}
	n += kinds(&l.Serving)
	if p.Chunk > 0 {
		n++
	}
	if p.Slots > 0 {
		n++
	}
	return n
}
