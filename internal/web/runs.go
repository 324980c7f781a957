package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/store"
)

// Run is what a list says of a run.
type Run struct {
	ID      string `json:"id" doc:"the number by which ridgeline runs knows it"`
	Kind    string `json:"kind" enum:"bench,prediction,simulation,probe,validation"`
	Title   string `json:"title" doc:"its name, or what was measured in a few words"`
	Name    string `json:"name" doc:"that its user gave it, may be empty"`
	Model   string `json:"model"`
	Target  string `json:"target" doc:"the service, or the cluster"`
	Source  string `json:"source" doc:"the tool that made it"`
	Started string `json:"started" doc:"RFC 3339, UTC"`
}

// KeptRun is a run with its document.
type KeptRun struct {
	Run
	Document map[string]any `json:"document" doc:"the document of the command's --json"`
}

// maxRuns bounds a list.
const maxRuns = 1000

func headOf(r *store.Run) Run {
	title := r.Name
	if title == "" {
		title = strings.TrimSpace(r.Model + " " + r.Summary)
	}
	return Run{strconv.FormatInt(r.ID, 10), string(r.Kind), title, r.Name, r.Model, r.Target, r.Source, r.At.UTC().Format(time.RFC3339)}
}

// listed is the heads of all runs, the latest first.
func (s *Server) listed(ctx context.Context) ([]Run, error) {
	runs := []Run{}
	if s.options.Store == nil {
		return runs, nil
	}
	list, err := s.options.Store.List(ctx, store.Filter{Most: maxRuns})
	for _, r := range list {
		runs = append(runs, headOf(r))
	}
	return runs, err
}

// find takes numbers alone: names and ages are for people.
func (s *Server) find(ctx context.Context, id string) (*store.Run, error) {
	none := problem(http.StatusNotFound, fmt.Sprintf("no run is called %q: /api/v1/runs lists them", id)).coded(codeNoRun, values{"id": id})
	if _, err := strconv.ParseUint(id, 10, 63); err != nil || s.options.Store == nil {
		return nil, none
	}
	r, err := s.options.Store.Find(ctx, id)
	if errors.Is(err, store.ErrNone) {
		return nil, none
	}
	if errors.Is(err, store.ErrDamaged) {
		return nil, problem(http.StatusInternalServerError, err.Error()).coded(codeDamagedRun, values{"id": id})
	}
	return r, err
}

// documented adds the document to a run's head.
func documented(r *store.Run) (*KeptRun, error) {
	k := &KeptRun{Run: headOf(r)}
	return k, json.Unmarshal(r.Document, &k.Document)
}

// keep adds an evaluation to the store and returns its id.
func (s *Server) keep(doc *bench.Report, samples *api.BenchSamples) (id string, _ error) {
	if s.options.Store == nil {
		return "", nil
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		return "", err
	}
	r, err := api.RunOf(raw)
	if err != nil {
		return "", err
	}
	r.Samples = samples.List()
	n, err := s.options.Store.Add(context.Background(), r) // also what was cut
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(n, 10), nil
}

type (
	runList struct {
		Runs     []Run    `json:"runs"`
		Services []string `json:"services" doc:"URLs of the services that may be evaluated here"`
	}
	runInput struct {
		ID string `path:"id" doc:"as /api/v1/runs lists it"`
	}
	compareInput struct {
		A string `query:"a" required:"true" doc:"id of a run"`
		B string `query:"b" required:"true" doc:"id of another one"`
	}
)

func (s *Server) runRoutes() {
	answered(s, operation("runs", "/api/v1/runs", tagMeasured, "Measured runs that are kept, the latest first"), runList{}, func(ctx context.Context, _ *struct{}) (any, error) {
		list, err := s.listed(ctx)
		return runList{list, append([]string{}, s.options.Services.URLs...)}, err
	})
	answered(s, operation("run", "/api/v1/runs/{id}", tagMeasured, "One run with its document", http.StatusNotFound), &KeptRun{}, func(ctx context.Context, in *runInput) (any, error) {
		r, err := s.find(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		k, err := documented(r)
		return k, err
	})
	answered(s, operation("compare", "/api/v1/runs/compare", tagMeasured, "Two runs beside each other", http.StatusNotFound), &Comparison{}, func(ctx context.Context, in *compareInput) (any, error) {
		a, err := s.find(ctx, in.A)
		if err != nil {
			return nil, err
		}
		b, err := s.find(ctx, in.B)
		if err != nil {
			return nil, err
		}
		c, err := compared(a, b)
		return c, err
	})
}
