package cli

import (
	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/launch"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// todayFlags are the machine and the load that an imported configuration is asked about.
type todayFlags struct {
	cluster, model, configs           string
	isl, osl, concurrency, batch, seq int64
	slo                               deploy.SLO
}

func (f *todayFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.cluster, "cluster", "", "`CLUSTER` that it runs on, such as h200x16: predict it, and what would be better")
	fs.StringVar(&f.model, "model", "", "`MODEL` that is predicted (default: the command's)")
	configsFlag(cmd, &f.configs)
	countFlag(cmd, &f.isl, "isl", "input tokens per request")
	countFlag(cmd, &f.osl, "osl", "output tokens per request")
	countFlag(cmd, &f.concurrency, "concurrency", "requests in flight at the service")
	fs.Var(ask.Quantity(&f.slo, deploy.ParseSLO, "SLO", ""), "slo", "objective that what is better keeps, such as ttft=2s,tpot=50ms (default: no user waits longer than today)")
	countFlag(cmd, &f.batch, "global-batch", "sequences per step (default: the command's)")
	countFlag(cmd, &f.seq, "seq", "tokens per sequence (default: the command's)")
	completions(cmd, map[string]cobra.CompletionFunc{"model": completeModel, "cluster": completeCluster})
}

// ask predicts what was imported; nil where no machine was named.
func (f *todayFlags) ask(cmd *cobra.Command, env *Env, im *launch.Imported) (*api.TodayAnswer, error) {
	if !cmd.Flags().Changed("cluster") {
		for _, name := range []string{"model", "isl", "osl", "concurrency", "slo", "global-batch", "seq"} {
			if cmd.Flags().Changed(name) {
				return nil, usagef("--%s is of a prediction: give --cluster, too", name)
			}
		}
		return nil, nil
	}
	const most = 1 << 24
	if f.batch > most || f.seq > most {
		return nil, usagef("--global-batch and --seq are at most %d: lower them", most)
	}
	r := &api.TodayRequest{Imported: im, ISL: f.isl, OSL: f.osl, SLO: f.slo, Concurrency: int(min(f.concurrency, deploy.MaxConcurrency+1)), GlobalBatch: int(f.batch), Seq: int(f.seq)}
	if im.Batch == nil {
		if err := required(cmd, "isl", "osl", "concurrency"); err != nil {
			return nil, err
		}
		if f.concurrency < 1 || f.concurrency > deploy.MaxConcurrency {
			return nil, usagef("--concurrency %d: give 1 to %d", f.concurrency, deploy.MaxConcurrency)
		}
	}
	var err error
	if r.Cluster, err = catalog.Cluster(f.cluster); err != nil {
		return nil, badInput(err)
	}
	name := f.model
	if name == "" {
		name = im.Model
	}
	if name == "" {
		return nil, usagef("the command names no model: give --model")
	}
	if r.Model, err = findModel(name, f.configs); err != nil {
		if f.model == "" {
			return nil, usagef("%w; --model names the one that is predicted", err)
		}
		return nil, err
	}
	bar := newProgress(env.Stderr)
	r.Progress = bar.update
	a, err := api.Today(cmd.Context(), r)
	bar.clear()
	if err != nil {
		return nil, inferError(cmd, err)
	}
	return a, nil
}

// todayFits is the error of an imported configuration that the cluster does not hold.
func todayFits(a *api.TodayAnswer) error {
	switch {
	case a == nil:
	case a.Training != nil && !a.Training.Best.Fits:
		b := a.Training.Best
		return infeasiblef("the imported plan does not fit: it needs %s of %s usable", unit.FormatGB(b.Memory.Total()), unit.FormatGB(b.Limit))
	case a.Serving != nil && !a.Serving.Best.Best.Fits:
		b := a.Serving.Best.Best
		return infeasiblef("the imported layout does not fit: it needs %s of %s usable", unit.FormatGB(b.Need), unit.FormatGB(b.Memory.Budget))
	}
	return nil
}
