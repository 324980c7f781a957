package serve

import (
	"context"
	"time"

	"github.com/ridgeline/ridgeline/internal/workload"
)

// Ramp is the time over which the users of the load's closed loop come when nothing
// else is said; 0 = all at once.
//
// Users whose requests are all alike and who start together come back together for
// ever in a simulation, and prompts are read in convoys. Where the engine reads prompts
// before it generates on, real users do so, too: TTFT is 0.96 of the measured one,
// median of 21 runs of SGLang. Where prompts share steps with generation they do not
// stay in step: simulated so, TTFT is 2.8 times that of 13 runs of vLLM and 2.0 times
// that of 72 of TensorRT-LLM, with users who come at moments of their own 0.8 times
// (package validate, TestEqualLengthsAsMeasured). Those are spread over one answer.
func Ramp(ctx context.Context, service *Service, load *workload.Workload, seed uint64) (time.Duration, error) {
	e, _ := service.Generating()
	n := min(load.Concurrency, len(load.Requests))
	if n < 2 || e.Separate || !load.Alike() {
		return 0, nil
	}
	first := *load
	first.Requests = load.Requests[:n]
	r, err := Run(ctx, service, &first, Options{Seed: seed})
	if err != nil || r.Done == 0 {
		return 0, err
	}
	return time.Duration(r.Whole.E2E.Mean * float64(time.Second)), nil
}
