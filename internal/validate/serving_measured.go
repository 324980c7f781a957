package validate

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// slackTPOT is how far below its floor a measured time per token may lie: clocks and cells are rounded.
const slackTPOT = 0.02

// mostTokens is how many tokens a sequence gets of a step at most: all of its drafts hold.
func mostTokens(s *infer.Speculation) float64 {
	if s == nil {
		return 1
	}
	return float64(1 + s.Drafts)
}

// checkMeasured refuses a time per token that no engine has on this GPU, see leastTPOT. It says
// nothing of how far it is from a prediction.
func (r *ServingRun) checkMeasured(x *ServingPrediction) error {
	if r.TPOT >= 1e3*float64(x.TPOT) {
		return nil // the floor is no higher
	}
	least, err := r.leastTPOT(x)
	if err != nil || r.TPOT >= (1-slackTPOT)*1e3*float64(least) {
		return err
	}
	return wrong(fmt.Errorf("%g, and no %s gives a token in less than %.4g ms at its datasheet's memory and matrix rates: correct it", r.TPOT, x.Device, 1e3*float64(least)), "tpot_ms")
}

// leastTPOT is the time of a token, seconds, that the datasheet allows: a step reads the weights that one sequence
// needs, and multiplies for all that generate at once; of these there are, on average, as many as their share of a request's time
// says (Little's law). The cache is left out, whose format and sharing a row does not say.
func (r *ServingRun) leastTPOT(x *ServingPrediction) (unit.Seconds, error) {
	s := *x.decoder.Setup()
	s.Peak = true
	e, err := infer.New(&s)
	if err != nil {
		return 0, err
	}
	instances := r.Plan.Replicas
	if r.Split != nil {
		instances = r.Split.DecodeWorkers
	}
	generating := r.TPOT * float64(r.OSL)
	n := max(1, int(float64(r.Concurrency)/float64(instances)*generating/(generating+r.TTFT)))
	one, all := e.Step(&infer.Batch{Decode: 1, DecodeContext: 1}), e.Step(&infer.Batch{Decode: n, DecodeContext: int64(n)})
	return max(one.HBM/unit.Seconds(x.each), all.Compute/unit.Seconds(x.each)), nil
}
