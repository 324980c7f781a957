package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/compare"
	"github.com/ridgeline/ridgeline/internal/store"
)

// BenchSamples gathers the values of requests as they end, for a run that is kept.
type BenchSamples struct {
	mu     sync.Mutex
	values map[sampleKey][]float32
}

type sampleKey struct {
	stage  int
	metric string
}

// Add takes what a comparison draws from.
func (s *BenchSamples) Add(r *bench.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = map[sampleKey][]float32{}
	}
	for _, m := range compare.Metrics {
		if v, ok := compare.Value(r, m); ok {
			k := sampleKey{r.Stage, m}
			s.values[k] = append(s.values[k], v)
		}
	}
}

// List is what was gathered.
func (s *BenchSamples) List() (list []store.Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, v := range s.values {
		list = append(list, store.Sample{Stage: key.stage, Metric: key.metric, Values: v})
	}
	return list
}

// RunsCompared is two kept runs beside each other: two measurements, or a prediction
// with a measurement; the other field is nil.
type RunsCompared struct {
	A, B     *store.Run
	Measured *compare.Comparison
	Gap      *compare.Gap // A is the prediction
}

// CompareRuns holds b against a. Errors are bad input: other kinds, or a document
// that cannot be read.
func CompareRuns(a, b *store.Run) (*RunsCompared, error) {
	predicted := func(r *store.Run) bool { return r.Kind == store.Prediction || r.Kind == store.Simulation }
	switch {
	case a.Kind == store.Bench && b.Kind == store.Bench:
		x, err := side(a)
		if err != nil {
			return nil, err
		}
		y, err := side(b)
		if err != nil {
			return nil, err
		}
		return &RunsCompared{A: a, B: b, Measured: compare.Measurements(x, y)}, nil
	case predicted(a) && b.Kind == store.Bench:
		return gap(a, b)
	case predicted(b) && a.Kind == store.Bench:
		return gap(b, a)
	}
	return nil, fmt.Errorf("run %d is a %s and run %d a %s: give two measurements (bench), or a prediction or simulation and a measurement", a.ID, a.Kind, b.ID, b.Kind)
}

func gap(predicted, measured *store.Run) (*RunsCompared, error) {
	points, err := compare.ReadPrediction(predicted.Document)
	if err != nil {
		return nil, fmt.Errorf("run %d: %w", predicted.ID, err)
	}
	d, err := BenchOf(measured)
	if err != nil {
		return nil, err
	}
	return &RunsCompared{A: predicted, B: measured, Gap: compare.Prediction(points, d)}, nil
}

// BenchOf is a kept measurement's report.
func BenchOf(r *store.Run) (*bench.Report, error) {
	var d bench.Report
	if err := json.Unmarshal(r.Document, &d); err != nil {
		return nil, fmt.Errorf("run %d: %w", r.ID, err)
	}
	return &d, nil
}

// side is a kept measurement as comparisons take it.
func side(r *store.Run) (compare.Side, error) {
	d, err := BenchOf(r)
	return compare.Side{Report: d, Values: func(stage int, metric string) []float32 {
		for _, s := range r.Samples {
			if s.Stage == stage && s.Metric == metric {
				return s.Values
			}
		}
		return nil
	}}, err
}

func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// RunOf recognises a document that a command of this program printed.
func RunOf(raw []byte) (*store.Run, error) {
	var d struct {
		URL      *string           `json:"url"`
		Model    string            `json:"model"`
		Cluster  string            `json:"cluster"`
		Stages   []json.RawMessage `json:"stages"`
		Clusters []string          `json:"clusters"`
		Best     json.RawMessage   `json:"best"`
		Points   json.RawMessage   `json:"points"`
		Plans    json.RawMessage   `json:"plans"`
		Whole    json.RawMessage   `json:"whole"`
		Record   string            `json:"record"`
		Machine  struct {
			Host string `json:"host"`
			CPU  string `json:"cpu"`
		} `json:"machine"`
		Results []json.RawMessage `json:"results"`
		Scored  *int              `json:"scored"`
		Rows    int               `json:"rows"`
		Started string            `json:"started"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, fmt.Errorf("no JSON document: %w", err)
	}
	r := &store.Run{Model: d.Model, Target: d.Cluster, Source: "ridgeline", Document: raw, At: time.Now()}
	if t, err := time.Parse(time.RFC3339, d.Started); err == nil {
		r.At = t
	}
	switch {
	case d.Record != "":
		r.Kind, r.Target, r.Summary = store.Probe, d.Machine.Host, counted(len(d.Results), "measurement")
	case d.Scored != nil:
		r.Kind, r.Summary = store.Validation, fmt.Sprintf("%d of %d rows scored", *d.Scored, d.Rows)
	case d.Whole != nil:
		r.Kind, r.Summary = store.Simulation, "simulated service"
	case d.URL != nil && d.Stages != nil:
		r.Kind, r.Target, r.Summary = store.Bench, *d.URL, counted(len(d.Stages), "stage")
	case d.Points != nil && d.Best != nil:
		r.Kind, r.Summary = store.Prediction, "serving"
		if len(d.Clusters) > 0 {
			r.Target = d.Clusters[0]
		}
	case d.Plans != nil && d.Best != nil:
		r.Kind, r.Summary = store.Prediction, "training"
	default:
		return nil, errors.New("no document of this program")
	}
	return r, nil
}
