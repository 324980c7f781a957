package cli

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/balance"
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/input"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// finder resolves names as the command line does: catalogues, and files.
type finder struct{ configs string }

func (f finder) Model(name string) (*model.Model, error) { return findModel(name, f.configs) }
func (finder) Cluster(name string) (*hw.Cluster, error)  { return catalog.Cluster(name) }
func (finder) Trace(name string) (*workload.Workload, error) {
	w, err := workload.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: name a trace, see docs/formats.md", err)
	}
	return w, err
}

// Loads opens a file of expert loads.
func (finder) Loads(name string) (*balance.Given, error) {
	f, err := input.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%w: name a file with a number for each expert", err)
	}
	defer f.Close()
	text, err := input.Text(f, maxLoads)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return balance.ReadGiven(text, name)
}

// maxLoads bounds a file of expert loads: a number for each of some hundred experts.
const maxLoads = 1 << 20

// trainQuestion adds the flags of a question about training to cmd; what it
// returns reads them.
func trainQuestion(cmd *cobra.Command) func() (*api.TrainRequest, error) {
	q := ask.NewTrain()
	var find finder
	cmd.Flags().AddFlagSet(q.Flags)
	configsFlag(cmd, &find.configs)
	completions(cmd, map[string]cobra.CompletionFunc{"model": completeModel, "cluster": completeCluster, "precision": completeWords(plan.PrecisionNames())})
	return func() (*api.TrainRequest, error) {
		if err := notEmpty(cmd, "configs", "trace"); err != nil {
			return nil, err
		}
		r, err := q.Request(find)
		for _, n := range q.Notes {
			fmt.Fprintln(cmd.ErrOrStderr(), "note: "+n.Text)
		}
		return r, asked(cmd, err)
	}
}

// inferQuestion is trainQuestion for serving.
func inferQuestion(cmd *cobra.Command) func() (*api.InferRequest, error) {
	q := ask.NewInfer()
	var find finder
	cmd.Flags().AddFlagSet(q.Flags)
	ask.BothSpellings(cmd.Flags())
	configsFlag(cmd, &find.configs)
	completions(cmd, map[string]cobra.CompletionFunc{"model": completeModel, "cluster": completeCluster, "engine": completeWords(ask.Engines)})
	return func() (*api.InferRequest, error) {
		r, err := q.Request(find)
		return r, asked(cmd, err)
	}
}

// simulateQuestion is trainQuestion for simulations.
func simulateQuestion(cmd *cobra.Command) func() (*api.SimulateRequest, error) {
	q := ask.NewSimulate()
	var find finder
	cmd.Flags().AddFlagSet(q.Flags)
	ask.BothSpellings(cmd.Flags())
	configsFlag(cmd, &find.configs)
	completions(cmd, map[string]cobra.CompletionFunc{"model": completeModel, "cluster": completeCluster, "engine": completeWords(ask.Engines),
		"arrival": completeWords([]string{"poisson", "constant", "gamma:2"}), "routing": completeWords(ask.Routings)})
	return func() (*api.SimulateRequest, error) {
		r, err := q.Request(find)
		return r, asked(cmd, err)
	}
}

// deploymentQuestion is trainQuestion for one service that is emulated.
func deploymentQuestion(cmd *cobra.Command) func() (*ask.Deployment, *api.InferRequest, api.SimulateLimits, error) {
	q := ask.NewDeployment(cmd.Name())
	var find finder
	cmd.Flags().AddFlagSet(q.Flags)
	ask.BothSpellings(cmd.Flags())
	configsFlag(cmd, &find.configs)
	completions(cmd, map[string]cobra.CompletionFunc{"model": completeModel, "cluster": completeCluster, "engine": completeWords(ask.Engines), "routing": completeWords(ask.Routings)})
	return func() (*ask.Deployment, *api.InferRequest, api.SimulateLimits, error) {
		service, limits, err := q.Request(find)
		return q, service, limits, asked(cmd, err)
	}
}
