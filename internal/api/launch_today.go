package api

import (
	"context"
	"fmt"

	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/launch"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// TodayRequest asks what an imported configuration gives on a cluster, and what would
// give more. A service has its load, a training run its batch where the command does
// not state it.
type TodayRequest struct {
	Imported         *launch.Imported
	Model            *model.Model
	Cluster          *hw.Cluster
	ISL, OSL         int64      // tokens
	Concurrency      int        // requests in flight at the service
	SLO              deploy.SLO // what Better keeps; none: today's own times
	GlobalBatch, Seq int        // 0 = the command's
	Progress         func(done, all int)
}

// TodayAnswer is the prediction of what runs. Serving and Better, or Training, are set.
type TodayAnswer struct {
	Serving *InferAnswer // of the imported layout alone
	// Better is the search over every layout of the cluster at the same load under the
	// request's objective. Without one no user may wait longer than today; where today's
	// does not fit, there is no limit.
	Better   *InferAnswer
	Training *TrainAnswer // Best is today's and Overall the best plan of all
	Notes    []string     // settings that the prediction leaves out
}

// Gain is how much more output a GPU gives in the better layout, as a ratio; 0 where
// none is better.
func (a *TodayAnswer) Gain() float64 {
	if a.Better == nil || !a.Better.Met() {
		return 0
	}
	today, better := a.Serving.Best.Best, a.Better.Best.Best
	if !today.Fits || today.Output <= 0 {
		return 0
	}
	return better.PerGPU() / today.PerGPU()
}

// Today predicts an imported configuration. Errors are bad input.
func Today(ctx context.Context, r *TodayRequest) (*TodayAnswer, error) {
	if r.Imported.Batch != nil {
		return r.training(ctx)
	}
	return r.serving(ctx)
}

func (r *TodayRequest) serving(ctx context.Context) (*TodayAnswer, error) {
	im, a := r.Imported, &TodayAnswer{}
	text := im.Deployment
	if text == "" && im.PlanText != "" {
		if text = im.PlanText; im.Plan["replicas"] == nil {
			text += ",replicas=1"
		}
	}
	if text == "" {
		return nil, fmt.Errorf("%s states no whole layout, so nothing can be predicted: mend the sizes that the warnings name", im.Engine)
	}
	t, err := plan.ParseServing(text)
	if err != nil {
		return nil, err
	}
	q := &InferRequest{Model: r.Model, Clusters: []*hw.Cluster{r.Cluster}, Plan: t, ISL: r.ISL, OSL: r.OSL, Concurrency: []int{r.Concurrency}, Engine: im.Engine}
	a.Notes = append(a.Notes, q.take(im.Asked())...)
	if a.Serving, err = Infer(ctx, q); err != nil {
		return nil, err
	}
	open := *q
	if open.Plan, err = plan.ParseServing(""); err != nil {
		return nil, err
	}
	open.Chunk, open.Slots, open.Progress = 0, 0, r.Progress
	if open.SLO = r.SLO; !r.SLO.Any() && a.Serving.Best.Best.Fits {
		p := a.Serving.Best.Best
		open.SLO = deploy.SLO{TTFT: p.TTFT, TPOT: p.TPOT}
	}
	a.Better, err = Infer(ctx, &open)
	return a, err
}

func (a *TodayAnswer) note(format string, args ...any) {
	a.Notes = append(a.Notes, fmt.Sprintf(format, args...))
}

func (r *TodayRequest) training(ctx context.Context) (*TodayAnswer, error) {
	im, a := r.Imported, &TodayAnswer{}
	fixed, err := plan.Parse(im.PlanText)
	if err != nil {
		return nil, err
	}
	q := &TrainRequest{Model: r.Model, Cluster: r.Cluster, Fixed: fixed, GlobalBatch: r.GlobalBatch, Seq: r.Seq, MTP: int(im.Batch.MTP), Top: 1, Progress: r.Progress}
	if q.GlobalBatch == 0 {
		q.GlobalBatch = int(im.Batch.Global)
	}
	if q.Seq == 0 {
		q.Seq = int(im.Batch.Seq)
	}
	switch {
	case q.GlobalBatch == 0 && q.Seq == 0:
		return nil, fmt.Errorf("the command does not state its batch: give --global-batch and --seq")
	case q.GlobalBatch == 0:
		return nil, fmt.Errorf("the command does not state its sequences per step: give --global-batch")
	case q.Seq == 0:
		return nil, fmt.Errorf("the command states %d sequences per step, not their length: give --seq", q.GlobalBatch)
	}
	precision := im.Batch.Precision
	if precision == "" {
		precision = "bf16"
		a.note("the command states no precision: bf16 is taken")
	}
	if q.Precision, err = plan.ParsePrecision(precision); err != nil {
		return nil, err
	}
	for _, k := range []plan.Key{plan.KeyMBS, plan.KeySchedule, plan.KeyRecompute} {
		if !fixed.Has(k) && (k != plan.KeySchedule || fixed.Plan.PP > 1) {
			a.note("the command does not state %s: the best is taken", k)
		}
	}
	a.Training, err = Train(ctx, q)
	return a, err
}
