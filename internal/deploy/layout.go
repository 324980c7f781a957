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

// simplicity orders layouts that perform alike: fewer GPUs first, then fewer
// kinds of parallelism, then smaller degrees that cross more links.
func (l *Layout) simplicity() int {
	kinds := func(s *plan.Serving) (n int) {
		for _, d := range []int{s.TP, s.PP, s.DP, s.EP, s.DCP} {
			if d > 1 {
				n++
			}
		}
		return n
	}
	if l.Split != nil {
		return 1000*l.GPUs() + 100 + kinds(&l.Split.Prefill) + kinds(&l.Split.Decode)
	}
	return 1000*l.GPUs() + kinds(&l.Serving)
}
