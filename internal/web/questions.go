package web

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/sched"
)

// The bodies of questions differ in their schema alone.
type (
	trainFields    struct{ fields }
	sweepFields    struct{ fields }
	priceFields    struct{ fields }
	inferFields    struct{ fields }
	simulateFields struct{ fields }
	scheduleFields struct{ fields }
)

// fileFlags name files on the command line and do not exist here.
var fileFlags = []string{"trace"}

func (trainFields) Schema(huma.Registry) *huma.Schema {
	return schemaOf(ask.NewTrain().Flags, []string{"model", "cluster", "global_batch", "seq"})
}

func (sweepFields) Schema(huma.Registry) *huma.Schema { return plansSchema("sweep") }
func (priceFields) Schema(huma.Registry) *huma.Schema { return plansSchema() }

// plansSchema is a question about training with a list of plans.
func plansSchema(required ...string) *huma.Schema {
	s := schemaOf(ask.NewTrain().Flags, append(required, "model", "cluster", "global_batch", "seq", "plans"), "plan")
	s.Properties["plans"] = &huma.Schema{Type: huma.TypeArray, Description: "the plans to compare, keys that are not given are searched at today's figures",
		Items: &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeObject, AdditionalProperties: true}}}}
	return s
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

// on tells whether a switch is given as true.
func (f fields) on(name string) bool { return string(f.of[name]) == "true" }

// stated tells whether a field names one plan, or nearly: then nothing is searched.
// That is an object with the keys that answers state, or the word fsdp.
func (f fields) stated(name string) bool { return stated(f.of[name]) }

// allStated tells it of every plan of a list.
func (f fields) allStated(name string) bool {
	var list []json.RawMessage
	return json.Unmarshal(f.of[name], &list) == nil && !slices.ContainsFunc(list, func(raw json.RawMessage) bool { return !stated(raw) })
}

// fixing are the keys without which a plan leaves much to be searched.
var fixing = []plan.Key{plan.KeyTP, plan.KeyPP, plan.KeyDP, plan.KeyEP, plan.KeyMBS, plan.KeyRecompute}

func stated(raw json.RawMessage) bool {
	if len(raw) == 0 {
		return false
	}
	text, given, err := (&finder{}).text("plan", raw)
	if err != nil || !given {
		return err != nil // what is refused takes no time
	}
	p, err := plan.Parse(text)
	return err != nil || p.Plain || !slices.ContainsFunc(fixing, func(k plan.Key) bool { return !p.Has(k) })
}

// without is the fields without one that is no flag.
func (f fields) without(name string) fields {
	rest := maps.Clone(f.of)
	delete(rest, name)
	return fields{rest, f.err}
}

// request resolves the question; what it should know of it comes as notes.
func (f trainFields) request() (*api.TrainRequest, note.List, error) {
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

func (f sweepFields) request() (*api.TrainRequest, []*plan.Fixed, error) {
	r, plans, err := priceFields(f).request()
	if err == nil && r.Sweep == nil {
		err = badInput(&ask.MissingError{Flag: "sweep"})
	}
	return r, plans, err
}

func (f priceFields) request() (*api.TrainRequest, []*plan.Fixed, error) {
	r, _, err := trainFields{f.without("plans")}.request()
	switch {
	case err != nil:
		return nil, nil, err
	case f.of["plans"] == nil:
		return nil, nil, badInput(&ask.MissingError{Flag: "plans"})
	}
	var list []json.RawMessage
	if err := json.Unmarshal(f.of["plans"], &list); err != nil {
		return nil, nil, badInput(&note.About{Field: "plans", Err: errors.New("plans is no list: give texts such as tp=8,pp=4, or objects as answers state them")})
	}
	var plans []*plan.Fixed
	for _, raw := range list {
		text, _, err := (&finder{}).text("plan", raw)
		if err != nil {
			return nil, nil, badInput(&note.About{Field: "plans", Err: err})
		}
		p, err := plan.Parse(text)
		if err != nil {
			return nil, nil, badInput(&note.About{Field: "plans", Err: err})
		}
		plans = append(plans, p)
	}
	return r, plans, nil
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
	name := ""
	if raw := f.of["name"]; raw != nil {
		var err error
		if name, _, err = find.text("name", raw); err != nil {
			return nil, badInput(&note.About{Field: "name", Err: err})
		}
	}
	if err := f.without("name").fill(q.Flags, find); err != nil {
		return nil, badInput(err)
	}
	spec, err := q.Request(name)
	if err != nil {
		return nil, badInput(err)
	}
	return spec, nil
}
