package api

import (
	"context"
	"fmt"

	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/launch"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// onCluster refuses a plan of more GPUs than the cluster has, in the words of train and
// infer.
func (r *LaunchRequest) onCluster() error {
	if r.Cluster == nil {
		return nil
	}
	switch n := r.Cluster.GPUs; {
	case r.Serving != nil:
		return r.Serving.Check(r.Model, n)
	case r.Split != nil && int64(r.Split.Total()) > n:
		return fmt.Errorf("plan %s needs %d GPUs and the cluster has %d: lower a degree or take a larger cluster", r.Split, r.Split.Total(), n)
	case r.Training != nil && int64(r.Training.GPUs()) > n:
		return fmt.Errorf("plan %s needs %d GPUs and the cluster has %d: lower a degree or take a larger cluster", r.Training, r.Training.GPUs(), n)
	}
	return nil
}

// predict is what the evaluation should measure, and what speaks against the plan: that
// it does not fit the GPUs, or why nothing is known of it.
func (r *LaunchRequest) predict(ctx context.Context, written *plan.Plan) (list []Prediction, doubts []string) {
	var err error
	switch {
	case r.Cluster == nil:
		return nil, nil
	case r.Training != nil:
		doubts, err = r.fitsTraining(written)
	default:
		list, doubts, err = r.predictServing(ctx)
	}
	if err != nil {
		doubts = append(doubts, "whether it fits is not known, and nothing is predicted: "+err.Error())
	}
	return list, doubts
}

// The load under which a service is only asked whether it fits.
const fitLength = 128 // tokens, in and out

// predictServing asks infer about the very layout that is written. Where no load is named
// it is only asked whether the layout fits.
func (r *LaunchRequest) predictServing(ctx context.Context) (list []Prediction, doubts []string, err error) {
	o := &r.Serve
	q := &InferRequest{Model: r.Model, Clusters: []*hw.Cluster{r.Cluster}, Plan: r.ServingText.Exact(), ISL: o.ISL, OSL: o.OSL, Concurrency: r.Concurrency, Engine: r.Engine}
	loaded := o.ISL > 0 && o.OSL > 0 && len(r.Concurrency) > 0
	if !loaded {
		q.ISL, q.OSL, q.Concurrency = fitLength, fitLength, []int{1}
	}
	doubts = q.take(r.Asked())
	if r.Speculation != nil && r.Speculation.Drafts > 0 && len(q.Speculation) > 0 {
		q.Speculation = []*infer.Speculation{r.Speculation}
	}
	a, err := Infer(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	if !a.Best.Best.Fits {
		return nil, append(doubts, r.unfit(a.NearestNeeds())), nil
	}
	if !loaded {
		return nil, nil, nil
	}
	for _, p := range a.Best.Points {
		if p.Fits {
			list = append(list, Prediction{p.Concurrency, float64(p.TTFT), float64(p.TPOT), p.Output, span(p.TTFTRange()), span(p.TPOTRange())})
		}
	}
	return list, doubts, nil
}

// fitsTraining asks train's evaluator about the very plan that is written.
func (r *LaunchRequest) fitsTraining(written *plan.Plan) (doubts []string, err error) {
	cluster := r.Cluster.Clone()
	cluster.GPUs = int64(r.Training.GPUs())
	t := &TrainRequest{Model: r.Model, Cluster: cluster, Fixed: r.Fixed, Precision: r.Precision, GlobalBatch: r.Train.GlobalBatch, Seq: r.Train.Seq, MTP: r.Train.MTP}
	q, err := question(t)
	if err != nil {
		return nil, err
	}
	e, err := q.Evaluator()
	if err != nil {
		return nil, err
	}
	best, err := e.Evaluate(written)
	if err != nil {
		return nil, err
	}
	if !best.Fits {
		a := TrainAnswer{Best: best}
		return []string{r.unfit(a.NearestNeeds())}, nil
	}
	return nil, nil
}

func (r *LaunchRequest) unfit(needs string) string {
	return fmt.Sprintf("the plan does not fit %s: it needs %s", r.Cluster.Name, needs)
}

// NearestNeeds words what the layout that came nearest lacks.
func (a *InferAnswer) NearestNeeds() string {
	b := a.Best.Best
	return fmt.Sprintf("%s of %s usable (%s)", unit.FormatGB(b.Need), unit.FormatGB(b.Memory.Budget), b.Layout.String())
}

// take turns what a configuration says beside its layout into the question. Notes are of
// what the prediction leaves out.
func (q *InferRequest) take(s *launch.Asked) (notes []string) {
	notes = append(notes, s.Left...)
	if f, ok := unit.ParseFormat(s.KV); ok {
		q.KV = []unit.Format{f}
	}
	// FP8 of a checkpoint that is FP8 is the checkpoint's own.
	if f, ok := unit.ParseFormat(s.Weights); ok && q.Model.Checkpoint.Weights.Bits() != f.Bits() {
		q.Weights = []unit.Format{f}
	}
	q.Overlap, q.Chunk = []bool{s.TwoBatch}, s.StepTokens
	q.Slots = min(s.Sequences, deploy.MaxConcurrency)
	if s.Drafts == 0 {
		return notes
	}
	spec, err := infer.ParseSpeculation(fmt.Sprintf("mtp:%d", s.Drafts))
	switch {
	case len(q.Model.MTP) == 0:
		notes = append(notes, fmt.Sprintf("%s has no MTP module that drafts %d tokens: speculation is left out of the prediction", q.Model.Name, s.Drafts))
	case err != nil:
		notes = append(notes, fmt.Sprintf("speculation is left out of the prediction: %v", err))
	default:
		q.Speculation = []*infer.Speculation{spec}
	}
	return notes
}
