package web

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/sched"
)

// The groups of the description.
const (
	tagTraining  = "Training"
	tagServing   = "Serving"
	tagMeasured  = "Measured"
	tagCatalogue = "Catalogues"
)

// groups are in the order of the page's tabs.
var groups = []*huma.Tag{{Name: tagTraining}, {Name: tagServing}, {Name: tagMeasured}, {Name: tagCatalogue}}

func (s *Server) routes() {
	s.catalogueRoutes()
	s.trainRoutes()
	s.servingRoutes()
	s.runRoutes()
	s.benchRoutes()
}

// operation describes an answer to GET and the statuses of every one: those of the guard and of
// the gate, and that of a query that the operation does not have. huma adds 500, and 422 where there are parameters. What else a handler refuses with is named in more.
func operation(id, path, tag, summary string, more ...int) huma.Operation {
	return huma.Operation{OperationID: id, Path: path, Tags: []string{tag}, Summary: summary, Method: http.MethodGet,
		Errors: append(more, http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusMisdirectedRequest, http.StatusServiceUnavailable)}
}

// posted makes an operation one with a body, and adds the statuses of those.
func (s *Server) posted(op huma.Operation, more ...int) huma.Operation {
	op.Method, op.MaxBodyBytes = http.MethodPost, s.limits.Body+1 // huma refuses as many, too
	op.SkipValidateBody = true                                    // fill refuses in the command line's words
	op.Errors = append(append(op.Errors, more...), http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	return op
}

// simulated is the most requests that one simulation through the API sends.
const simulated = 20_000

func (s *Server) servingRoutes() {
	add(s, computed[inferFields]{
		op:       operation("infer", "/api/v1/infer", tagServing, "Deployments that serve a model: points, Pareto front, cost"),
		example:  inferExample,
		document: report.InferDoc{},
		answer: func(ctx context.Context, f *inferFields, p progress) (any, error) {
			r, err := f.request()
			if err != nil {
				return nil, err
			}
			r.Progress = p
			a, err := api.Infer(ctx, r)
			if err != nil {
				return nil, err
			}
			return report.NewInferDoc(a), nil
		},
	})
	add(s, computed[inferFields]{
		op:       operation("explain-infer", "/api/v1/infer/explain", tagServing, "A prefill and a decode step, operation by operation"),
		example:  inferExample,
		document: report.ServingOperationsDoc{},
		answer: func(ctx context.Context, f *inferFields, p progress) (any, error) {
			r, err := f.request()
			if err != nil {
				return nil, err
			}
			r.Progress = p
			a, steps, err := api.ExplainInfer(ctx, r)
			if err != nil {
				return nil, err
			}
			return report.NewServingOperationsDoc(a, steps), nil
		},
	})
	add(s, computed[inferFields]{
		op:       operation("ratio", "/api/v1/infer/ratio", tagServing, "A plan of two roles at other numbers of prefill and decode workers"),
		example:  ratioExample,
		document: report.RatioDoc{},
		answer: func(ctx context.Context, f *inferFields, p progress) (any, error) {
			r, err := f.request()
			if err != nil {
				return nil, err
			}
			r.Progress = p
			a, err := api.InferRatio(ctx, r)
			if err != nil {
				return nil, err
			}
			return report.NewRatioDoc(a), nil
		},
	})
	add(s, computed[simulateFields]{
		op:       operation("simulate", "/api/v1/simulate", tagServing, "A deployment under a load, request by request"),
		example:  simulateExample,
		document: report.SimulateDoc{},
		answer: func(ctx context.Context, f *simulateFields, p progress) (any, error) {
			r, err := f.request(simulated)
			if err != nil {
				return nil, err
			}
			r.Progress = p
			a, err := api.Simulate(ctx, r)
			if err != nil {
				return nil, err
			}
			return report.NewSimulateDoc(a), nil
		},
	})
	add(s, computed[scheduleFields]{
		op:       operation("schedule", "/api/v1/schedule", tagTraining, "A pipeline schedule laid out"),
		example:  scheduleExample,
		quick:    func(*scheduleFields) bool { return true },
		document: report.ScheduleDoc{},
		answer: func(_ context.Context, f *scheduleFields, _ progress) (any, error) {
			spec, err := f.request()
			if err != nil {
				return nil, err
			}
			l, err := sched.Lay(spec)
			if err != nil {
				return nil, err
			}
			return report.NewScheduleDoc(l), nil
		},
	})
}
