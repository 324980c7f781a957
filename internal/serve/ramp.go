package serve

import (
	"context"
	"time"

	"github.com/ridgeline/ridgeline/internal/workload"
)

// Ramp is the time over which the users of the load's closed loop come when nothing
// else is said; 0 = all at once.
//
// Users of a service do not start together. Those who do come back together for rounds, the longer the less
// their requests vary (lengths within 20 % part after five rounds), prompts are read in
// convoys, and caches fill and empty all at once: nothing of it lasts, so that no stretch of a
// short run is steady. Equal requests are the extreme. Where the engine reads prompts
// before it generates on, real users do so, too: TTFT is 1.04 of the measured one,
// median of 21 runs of SGLang. Where prompts share steps with generation they do not
// stay in step: simulated so, TTFT is 2.2 times that of 13 runs of vLLM and 1.7 times
// that of 72 of TensorRT-LLM, with users who come at moments of their own 0.8 and 0.9 times
// (package validate, TestEqualLengthsAsMeasured). Users are spread over one answer of a
// loop that runs: the first answers of the run that times it end one after the other, and
// those behind them are timed. Users who come faster would be read in larger groups than
// they come back in, which matters where a step with prompts takes long whatever their
// number, as with wide DP attention.
func Ramp(ctx context.Context, service *Service, load *workload.Workload, seed uint64) (time.Duration, error) {
	n := min(load.Concurrency, len(load.Requests))
	if n < 2 || service.inStep(load) {
		return 0, nil
	}
	apart := *load
	apart.Requests = make([]workload.Request, 3*n)
	for i := range apart.Requests {
		apart.Requests[i] = load.Requests[i%n]
		if i < n {
			apart.Requests[i].Output = 1 + (load.Requests[i].Output-1)*i/n
		}
	}
	r, err := Run(ctx, service, &apart, Options{Seed: seed})
	if err != nil || r.Done == 0 {
		return 0, err
	}
	var took time.Duration
	done := 0
	for i := range r.Records[n:] {
		if x := &r.Records[n+i]; x.Outcome == workload.Done {
			took, done = took+x.Last-x.Queued, done+1
		}
	}
	return took / time.Duration(max(done, 1)), nil
}
