package web

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/sched"
)

// The bodies of questions differ in their schema alone.
type (
	trainFields    struct{ fields }
	inferFields    struct{ fields }
	simulateFields struct{ fields }
	scheduleFields struct{ fields }
)

// fileFlags name files on the command line and do not exist here.
var fileFlags = []string{"trace"}

func (trainFields) Schema(huma.Registry) *huma.Schema {
	return schemaOf(ask.NewTrain().Flags, []string{"model", "cluster", "global_batch", "seq"})
}

func (inferFields) Schema(huma.Registry) *huma.Schema {
	return schemaOf(ask.NewInfer().Flags, []string{"model", "cluster", "isl", "osl"})
}

func (simulateFields) Schema(huma.Registry) *huma.Schema {
	return schemaOf(ask.NewSimulate().Flags, []string{"model", "cluster", "plan"}, fileFlags...)
}

func (scheduleFields) Schema(huma.Registry) *huma.Schema {
	s := schemaOf(ask.NewSchedule().Flags, []string{"name", "stages", "microbatches"})
	s.Properties["name"] = &huma.Schema{Type: huma.TypeString, Description: "the schedule", Enum: words(ask.Schedules())}
	return s
}

func words(list []string) (out []any) {
	for _, w := range list {
		out = append(out, w)
	}
	return out
}

// request resolves the question; what it should know of it comes as notes.
func (f trainFields) request() (*api.TrainRequest, []string, error) {
	q, find := ask.NewTrain(), &finder{}
	if err := f.fill(q.Flags, find); err != nil {
		return nil, nil, badInput(err)
	}
	r, err := q.Request(find)
	if err != nil {
		return nil, nil, badInput(err)
	}
	return r, q.Notes, nil
}

func (f inferFields) request() (*api.InferRequest, error) {
	q, find := ask.NewInfer(), &finder{}
	if err := f.fill(q.Flags, find); err != nil {
		return nil, badInput(err)
	}
	r, err := q.Request(find)
	if err != nil {
		return nil, badInput(err)
	}
	return r, nil
}

func (f simulateFields) request(most int) (*api.SimulateRequest, error) {
	q, find := ask.NewSimulate(), &finder{}
	if err := f.fill(q.Flags, find, fileFlags...); err != nil {
		return nil, badInput(err)
	}
	q.Most = most
	r, err := q.Request(find)
	if err != nil {
		return nil, badInput(err)
	}
	return r, nil
}

func (f scheduleFields) request() (*sched.Spec, error) {
	q, find := ask.NewSchedule(), &finder{}
	rest := fields{}
	name := ""
	for k, v := range f.fields {
		if k != "name" {
			rest[k] = v
			continue
		}
		text, _, err := find.text(k, v)
		if err != nil {
			return nil, badInput(&fieldError{k, err})
		}
		name = text
	}
	if err := rest.fill(q.Flags, find); err != nil {
		return nil, badInput(err)
	}
	spec, err := q.Request(name)
	if err != nil {
		return nil, badInput(err)
	}
	return spec, nil
}
