package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/compare"
	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/store"
)

// keepFlags say whether and where a command's answer is kept.
type keepFlags struct {
	db, name string
	off      bool
}

// dbFlag names the store.
func dbFlag(cmd *cobra.Command, into *string) {
	cmd.Flags().StringVar(into, "db", "", "`FILE` of kept runs (default $"+store.Variable+", or ridgeline/runs.db in the user's data directory)")
}

// register adds --keep NAME: the answer is kept where it is given.
func (k *keepFlags) register(cmd *cobra.Command) {
	dbFlag(cmd, &k.db)
	cmd.Flags().StringVar(&k.name, "keep", "", "keep the answer as `NAME`, for `ridgeline runs`")
}

// openStore opens the store; with create it is made where it is missing.
func openStore(ctx context.Context, path string, create bool) (*store.DB, error) {
	if path == "" {
		var err error
		if path, err = store.DefaultPath(); err != nil {
			return nil, badInput(err)
		}
	}
	d, err := store.Open(ctx, path, create)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usagef("no run is kept yet in %s: `ridgeline bench` keeps its runs, --keep those of other commands", path)
	case err != nil:
		return nil, badInput(fmt.Errorf("--db: %w", err))
	}
	return d, nil
}

// answer keeps a command's document where --keep was given.
func (k *keepFlags) answer(cmd *cobra.Command, env *Env, doc any) error {
	if !cmd.Flags().Changed("keep") {
		return nil
	}
	if err := notEmpty(cmd, "keep", "db"); err != nil {
		return err
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	r, err := ownRun(raw)
	if err != nil {
		return err
	}
	r.Name, r.At = k.name, time.Now()
	return k.add(cmd.Context(), env, r)
}

// add keeps a run, also of a command that was interrupted.
func (k *keepFlags) add(ctx context.Context, env *Env, r *store.Run) error {
	ctx = context.WithoutCancel(ctx)
	d, err := openStore(ctx, k.db, true)
	if err != nil {
		return err
	}
	id, err := d.Add(ctx, r)
	if err = errors.Join(err, d.Close()); err != nil {
		return fmt.Errorf("not kept: %w", err)
	}
	fmt.Fprintf(env.Stderr, "kept as run %d\n", id)
	return nil
}

// benchSamples gathers the values of requests as they end.
type benchSamples struct {
	mu     sync.Mutex
	values map[sampleKey][]float32
}

type sampleKey struct {
	stage  int
	metric string
}

func (s *benchSamples) add(r *bench.Record) {
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

// bench keeps an evaluation. A report that could not be kept is still printed: what
// went wrong is a warning.
func (k *keepFlags) bench(ctx context.Context, env *Env, d *bench.Report, s *benchSamples) {
	if k.off {
		return
	}
	raw, err := json.Marshal(d)
	var r *store.Run
	if err == nil {
		r, err = ownRun(raw)
	}
	if err == nil {
		r.Name, r.At = k.name, time.Now()
		for key, v := range s.values {
			r.Samples = append(r.Samples, store.Sample{Stage: key.stage, Metric: key.metric, Values: v})
		}
		err = k.add(ctx, env, r)
	}
	if err != nil {
		fmt.Fprintf(env.Stderr, "warning: the run is not kept: %v\n", err)
	}
}

// ownRun recognises a document that a command of this program printed.
func ownRun(raw []byte) (*store.Run, error) {
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
		r.Kind, r.Target, r.Summary = store.Probe, d.Machine.Host, report.Plural(int64(len(d.Results)), "measurement")
	case d.Scored != nil:
		r.Kind, r.Summary = store.Validation, fmt.Sprintf("%d of %d rows scored", *d.Scored, d.Rows)
	case d.Whole != nil:
		r.Kind, r.Summary = store.Simulation, "simulated service"
	case d.URL != nil && d.Stages != nil:
		r.Kind, r.Target, r.Summary = store.Bench, *d.URL, report.Plural(int64(len(d.Stages)), "stage")
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
