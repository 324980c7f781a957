package validate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ridgeline/ridgeline/internal/input"
)

// Accuracy is every kind of validation over one folder of measurements.
type Accuracy struct {
	Targets   []Target          `json:"targets"`
	Operators *Document         `json:"operators,omitempty"`
	Serving   *Document         `json:"serving,omitempty"`
	Training  *Document         `json:"training,omitempty"`
	Requests  []RequestsOutcome `json:"requests,omitempty"`
	// Seconds is how long each kind took, by its name.
	Seconds map[string]float64 `json:"seconds"`
	Missing []string           `json:"missing,omitempty"` // what the folder lacks
	Failed  []string           `json:"failed,omitempty"`  // kinds that could not be read, with the reason

	trainingRuns []Run
}

// RequestsOutcome is a replayed run.
type RequestsOutcome struct {
	Run string `json:"run"` // the file's name without its ending
	*Document
}

// All validates what a folder holds: operators/, inference_runs.csv, training_runs.csv and
// requests/*.jsonl; what is absent or cannot be read is listed. began is told each kind before it runs.
func All(ctx context.Context, dir, configs string, began func(kind string)) (*Accuracy, error) {
	if st, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("%w: give a folder of measurements", err)
	} else if !st.IsDir() {
		return nil, fmt.Errorf("%s: a file, not a folder: give the folder that holds operators, inference_runs.csv, training_runs.csv or requests, or name the file's kind (validate serving, training, ...)", dir)
	}
	a := &Accuracy{Seconds: map[string]float64{}}
	for _, part := range []struct {
		kind, path string
		run        func(ctx context.Context, path, configs string) error
	}{
		{"operators", "operators", a.operators}, {"serving", "inference_runs.csv", a.serving},
		{"training", "training_runs.csv", a.training}, {"requests", "requests", a.requests},
	} {
		path := filepath.Join(dir, part.path)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			a.Missing = append(a.Missing, part.path)
			continue
		}
		began(part.kind)
		from := time.Now()
		err := part.run(ctx, path, configs)
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("interrupted while predicting %s: %w", part.kind, err)
		}
		if err != nil { // the other kinds are scored all the same
			a.Failed = append(a.Failed, oneLine(err))
			continue
		}
		a.Seconds[part.kind] = time.Since(from).Seconds()
	}
	switch {
	case len(a.Kinds()) > 0:
	case len(a.Failed) > 0:
		return nil, errors.New(a.Failed[0])
	default:
		return nil, fmt.Errorf("%s: none of %s: give a folder with at least one of them", dir, strings.Join(a.Missing, ", "))
	}
	if a.Training != nil {
		began("training runs that the constants did not see")
		var err error
		if a.Training.LeftOut, a.Training.LeftOutNotes, err = TrainingLeaveOut(ctx, a.trainingRuns, &Predictor{Configs: configs}); err != nil {
			return nil, err
		}
	}
	a.Targets = targets(a)
	return a, nil
}

func (a *Accuracy) operators(ctx context.Context, path, _ string) (err error) {
	a.Operators, err = Operators(ctx, path, nil)
	return err
}

func (a *Accuracy) serving(ctx context.Context, path, configs string) error {
	f, err := input.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	runs, bad, err := ReadServing(f, path)
	if err == nil {
		a.Serving = Serving(ctx, runs, bad, &ServingPredictor{Configs: configs})
	}
	return err
}

func (a *Accuracy) training(ctx context.Context, path, configs string) error {
	f, err := input.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	runs, bad, err := ReadRuns(f, path)
	if err != nil {
		return err
	}
	a.trainingRuns = runs
	a.Training = Training(ctx, runs, bad, &Predictor{Configs: configs})
	return nil
}

// requests replays every run of a folder; one that cannot be replayed is named and does not
// keep the others from it.
func (a *Accuracy) requests(ctx context.Context, path, configs string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return fmt.Errorf("%w: give a folder of requests, *.jsonl", err)
	}
	found := false
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if !ok {
			continue
		}
		found = true
		d, err := RequestsFile(ctx, filepath.Join(path, e.Name()), &ServingPredictor{Configs: configs})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			a.Failed = append(a.Failed, oneLine(err))
		default:
			a.Requests = append(a.Requests, RequestsOutcome{name, d})
		}
	}
	if !found {
		return fmt.Errorf("%s: no *.jsonl in it: add runs, or remove the folder", path)
	}
	return nil
}

// Kind is the document of one kind or of one replayed run.
type Kind struct {
	Name string
	*Document
}

// Kinds are the documents of what was scored, in the order of the report.
func (a *Accuracy) Kinds() (list []Kind) {
	for _, k := range []Kind{{"operators", a.Operators}, {"serving", a.Serving}, {"training", a.Training}} {
		if k.Document != nil {
			list = append(list, k)
		}
	}
	for _, r := range a.Requests {
		list = append(list, Kind{"requests of " + r.Run, r.Document})
	}
	return list
}

// Summary is the outcome without single predictions.
func (a *Accuracy) Summary() *Accuracy {
	s := *a
	short := func(d *Document) *Document {
		if d == nil {
			return nil
		}
		x := *d
		x.Predictions = []Scored{}
		return &x
	}
	s.Operators, s.Serving, s.Training = short(a.Operators), short(a.Serving), short(a.Training)
	s.Requests = nil
	for _, r := range a.Requests {
		s.Requests = append(s.Requests, RequestsOutcome{r.Run, short(r.Document)})
	}
	return &s
}
