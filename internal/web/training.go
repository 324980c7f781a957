package web

import (
	"context"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/report"
)

func (s *Server) trainRoutes() {
	add(s, computed[trainFields]{
		op:       operation("train", "/api/v1/train", tagTraining, "Plans that train a model: ranked, explained, with what would change the verdict"),
		example:  trainExample,
		quick:    func(f *trainFields) bool { return f.on("alone") && f.stated("plan") },
		document: report.TrainDoc{},
		answer: training(func(ctx context.Context, r *api.TrainRequest, notes note.List) (any, error) {
			a, err := api.Train(ctx, r)
			if err != nil {
				return nil, err
			}
			a.Warnings = append(a.Warnings, notes...)
			return report.NewTrainDoc(a), nil
		}),
	})
	add(s, computed[trainFields]{
		op:       operation("explain-train", "/api/v1/train/explain", tagTraining, "A plan operation by operation, with the roofs: the roofline plot"),
		example:  planExample,
		quick:    func(f *trainFields) bool { return f.stated("plan") },
		document: report.OperationsDoc{},
		answer: training(func(ctx context.Context, r *api.TrainRequest, _ note.List) (any, error) {
			a, rows, err := api.ExplainTrain(ctx, r)
			if err != nil {
				return nil, err
			}
			roofs, err := a.Roofs()
			return report.NewOperationsDoc(a, rows, roofs), err
		}),
	})
	add(s, computed[trainFields]{
		op:       operation("timeline", "/api/v1/train/timeline", tagTraining, "A plan's step in time and space: passes, sends, memory per stage"),
		example:  planExample,
		quick:    func(f *trainFields) bool { return f.stated("plan") },
		document: report.TimelineDoc{},
		answer: training(func(ctx context.Context, r *api.TrainRequest, _ note.List) (any, error) {
			a, m, err := api.TrainMoments(ctx, r)
			if err != nil {
				return nil, err
			}
			return report.NewTimelineDoc(a, m), nil
		}),
	})
	add(s, computed[trainFields]{
		op:       operation("why-not", "/api/v1/train/whynot", tagTraining, "Why a plan is not the answer, in two sentences and numbers"),
		example:  whyNotExample,
		quick:    func(f *trainFields) bool { return f.stated("plan") && f.stated("against") },
		document: report.WhyNotDoc{},
		answer: training(func(ctx context.Context, r *api.TrainRequest, _ note.List) (any, error) {
			a, err := api.WhyNot(ctx, r)
			if err != nil {
				return nil, err
			}
			return report.NewWhyNotDoc(a), nil
		}),
	})
	add(s, computed[priceFields]{
		op:       operation("price", "/api/v1/train/price", tagTraining, "Named plans evaluated, compared with nothing: what follows a slider"),
		example:  priceExample,
		quick:    func(f *priceFields) bool { return f.allStated("plans") },
		document: report.PricedDoc{},
		answer: func(ctx context.Context, f *priceFields, _ progress) (any, error) {
			r, plans, err := f.request()
			if err != nil {
				return nil, err
			}
			list, err := api.TrainPrice(ctx, r, plans)
			if err != nil {
				return nil, err
			}
			return report.NewPricedDoc(list), nil
		},
	})
	add(s, computed[sweepFields]{
		op:       operation("sweep", "/api/v1/train/sweep", tagTraining, "A few plans while one figure is turned: where the verdict flips"),
		example:  sweepExample,
		quick:    func(f *sweepFields) bool { return f.allStated("plans") },
		document: report.SweepDoc{},
		answer: func(ctx context.Context, f *sweepFields, _ progress) (any, error) {
			r, plans, err := f.request()
			if err != nil {
				return nil, err
			}
			sweep, err := api.TrainSweep(ctx, r, plans, *r.Sweep)
			if err != nil {
				return nil, err
			}
			return report.NewSweepDoc(sweep), nil
		},
	})
}

// training reads the question in front of an answer.
func training(answer func(context.Context, *api.TrainRequest, note.List) (any, error)) func(context.Context, *trainFields, progress) (any, error) {
	return func(ctx context.Context, f *trainFields, p progress) (any, error) {
		r, notes, err := f.request()
		if err != nil {
			return nil, err
		}
		r.Progress = p
		return answer(ctx, r, notes)
	}
}
