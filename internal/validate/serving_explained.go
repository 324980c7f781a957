package validate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ridgeline/ridgeline/internal/calib"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/model"
)

// unexplainedTTFT is how far a fit may leave the first tokens off on the median: half as much again
// as the target for their mean, 30 % (docs/accuracy.md), as calib.Unexplained is for TPOT.
const unexplainedTTFT = 0.45

// otherUnit is a ratio of measured and fitted time per token beyond which a cell of the run is
// wrong or in another unit: published runs are within a factor of 4 of their fits.
const otherUnit = 10

// explained refuses a fit that does not account for its runs; the error names what is off, and by how
// much.
func (f *ProfileFit) explained(rows []ServingRun, p *ServingPredictor) error {
	scored, engine := f.scored(rows, p), f.Profile.Engine
	if err := p.interrupted(); err != nil {
		return err
	}
	if len(scored) == 0 {
		return errors.New("no run of " + engine + " can be predicted")
	}
	const mend = "correct its columns (times in milliseconds, GPUs, users), or leave it out; nothing is written"
	off := func(s *Scored) float64 { return math.Abs(math.Log(s.Ratio())) }
	far := slices.MaxFunc(scored, func(a, b Scored) int { return cmp.Compare(off(&a), off(&b)) })
	beside := fmt.Sprintf("tpot_ms is %.4g and the best fit predicts %.4g", far.Measured, far.Predicted)
	switch {
	case off(&far) > math.Log(otherUnit):
		return fmt.Errorf("run %s cannot be explained: its %s, %.3g times that: %s", far.ID, beside, far.Ratio(), mend)
	case f.TPOT.MedianAPE > calib.Unexplained:
		return fmt.Errorf("the %d runs of %s cannot be explained: TPOT of the best fit is off by %.1f %% on the median, more than %.0f %%; farthest is run %s, whose %s: %s",
			len(scored), engine, 100*f.TPOT.MedianAPE, 100*calib.Unexplained, far.ID, beside, mend)
	case f.TTFT.MedianAPE > unexplainedTTFT:
		return fmt.Errorf("the %d runs of %s cannot be explained: TTFT of the best fit is off by %.1f %% on the median, more than %.0f %%: %s",
			len(scored), engine, 100*f.TTFT.MedianAPE, 100*unexplainedTTFT, "correct ttft_ms (milliseconds) or leave its cells empty; nothing is written")
	}
	return nil
}

// distinct leaves out runs that differ from an earlier one by their id alone: counted twice
// they would make their own held-out error look small.
func distinct(runs []ServingRun) (list []ServingRun, twice []Skipped) {
	seen := map[ServingRun]string{}
	for i := range runs {
		key := runs[i]
		key.ID = ""
		if first, ok := seen[key]; ok {
			twice = append(twice, Skipped{runs[i].ID, "the same run as " + first + ": it counts once"})
			continue
		}
		seen[key] = runs[i].ID
		list = append(list, runs[i])
	}
	return list, twice
}

// anew is a predictor of the same models that has built nothing yet; what it reads of models and
// clusters, the predictors made of it share.
func (p *ServingPredictor) anew() *ServingPredictor {
	return &ServingPredictor{Configs: p.Configs, ctx: p.ctx, models: map[string]*model.Model{}, clusters: map[string]*hw.Cluster{}}
}

// interrupted is the error of a fit that was ended early.
func (p *ServingPredictor) interrupted() error {
	if p.ctx == nil || p.ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("while fitting to serving runs, nothing is written: %w", p.ctx.Err())
}
