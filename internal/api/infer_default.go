package api

import "github.com/ridgeline/ridgeline/internal/deploy"

// The largest load that a question without loads looks at: at least leastLoad, and at most
// mostLoad, beyond which a list is better given.
const (
	leastLoad = 1 << 10
	mostLoad  = 1 << 16
)

// withLoads is the request with the loads that are looked at where it names none: powers
// of two up to the first that no deployment of any variant holds in its caches, within
// leastLoad and mostLoad, and what lies between them under an objective. The question is
// given them, too.
func (r *InferRequest) withLoads(q *deploy.Question, variants []*deploy.Variant) (*InferRequest, error) {
	q.Concurrency = []int{leastLoad}
	most := int64(0)
	for _, v := range variants {
		n, err := q.Holds(v)
		if err != nil {
			return nil, err
		}
		most = max(most, n)
	}
	own := *r
	own.Concurrency = loadsUpTo(most)
	q.Concurrency, q.Between = own.Concurrency, true
	return &own, nil
}

// loadsUpTo is the powers of two up to the first above most.
func loadsUpTo(most int64) (list []int) {
	for n := int64(1); ; n *= 2 {
		list = append(list, int(n))
		if n >= leastLoad && (n > most || n >= mostLoad) {
			return list
		}
	}
}
