package cli

import (
	"cmp"
	"errors"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/report"
)

func newInferCommand(env *Env) *cobra.Command {
	var plot string
	cmd := &cobra.Command{
		Use:     "infer",
		GroupID: groupPlan,
		Short:   "Find, rank and explain deployments that serve a model",
		Long: `Predict latency, throughput and cost of serving a model with so many requests in flight.
Without --plan, search the layouts up to the whole cluster and name the cheapest that meets the
objective, without one the last load before queueing takes over; with --plan, keys that are not given are searched (ep and dcp are 1 beside a given
tp, pp or dp). Values in a list are compared: clusters, formats, speculation, round trips.`,
		Example: `  ridgeline infer --model deepseek-r1 --cluster h200x64 --isl 1024 --osl 1024 --slo ttft=2s,tpot=50ms --price 2.5
  ridgeline infer --model deepseek-r1 --cluster h200x8 --plan tp=8 --isl 1024 --osl 1024 --concurrency 1..128 --spec none,mtp:1:0.87 --plot mtp.svg
  ridgeline infer --model deepseek-r1 --cluster h20x16 --plan tp=16 --isl 128 --osl 512 --concurrency 1 --net-rtt 0.193ms,1ms,2.193ms --calibrate tpot=52.8ms@rtt=0.193ms
  ridgeline infer --model deepseek-r1 --cluster h800x64 --plan "prefill:tp=1,dp=16,ep=16;decode:tp=1,dp=32,ep=32" --isl 4096 --osl 1024 --concurrency 256,1024
  ridgeline infer --model deepseek-r1 --cluster h200x8,h20x16,b200x8 --isl 4096 --osl 1024 --slo tpot=50ms --price 2.5,1,4`,
		Args: positional(0, 0, ""),
	}
	request := inferQuestion(cmd)
	ask.Text(cmd.Flags(), &plot, "plot", "draw the charts to `FILE`, .svg or .html")
	asJSON := jsonFlag(cmd)
	var keep keepFlags
	keep.register(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkAnswers(cmd, "plot"); err != nil {
			return err
		}
		draw, err := plotter(plot)
		if err != nil {
			return err
		}
		r, err := request()
		if err != nil {
			return err
		}
		bar := newProgress(env.Stderr)
		r.Progress = bar.update
		a, err := api.Infer(cmd.Context(), r)
		bar.clear()
		if err != nil {
			return inferError(cmd, err)
		}
		if draw != nil && a.Best.Best.Fits && len(report.InferCharts(a)) == 0 {
			return usagef("--plot %s: one point makes no curve: give several values of --concurrency or --net-rtt", plot)
		}
		var lost error // a file that cannot be written costs no answer
		if draw != nil && a.Best.Best.Fits {
			lost = writeFile(plot, func(w io.Writer) error { return draw(w, commandLine(cmd), a) })
		}
		kept := keep.answer(cmd, env, report.NewInferDoc(a))
		shown := showInfer(env, *asJSON, a)
		return cmp.Or(lost, kept, shown)
	}
	cmd.AddCommand(newInferRatioCommand(env))
	return cmd
}

// commandLine is the question as it would be asked again.
func commandLine(cmd *cobra.Command) string {
	s := cmd.CommandPath()
	cmd.Flags().Visit(func(f *pflag.Flag) { s += " --" + f.Name + "=" + f.Value.String() })
	return s
}

// inferError tells an interrupted search from bad input.
func inferError(cmd *cobra.Command, err error) error {
	if cmd.Context().Err() != nil {
		return errors.New("interrupted before the search was done")
	}
	return badInput(err)
}

// plotter picks what draws the file by its ending; nil without a file.
func plotter(file string) (func(io.Writer, string, *api.InferAnswer) error, error) {
	switch ext := strings.ToLower(filepath.Ext(file)); {
	case file == "":
		return nil, nil
	case ext == ".svg":
		return func(w io.Writer, _ string, a *api.InferAnswer) error { return report.InferSVG(w, a) }, nil
	case ext == ".html":
		return report.InferHTML, nil
	}
	return nil, usagef("--plot %s: the file must end in .svg or .html", file)
}

func showInfer(env *Env, asJSON bool, a *api.InferAnswer) error {
	var err error
	if asJSON {
		err = report.JSON(env.Stdout, report.NewInferDoc(a))
	} else {
		err = env.print(func(p *report.Page) { report.Infer(p, a) })
	}
	if err != nil {
		return err
	}
	return unmet(a)
}

// unmet is the error of an answer that does not fit or misses its objective.
func unmet(a *api.InferAnswer) error {
	if why := report.Unmet(a); why != "" {
		return infeasiblef("%s", why)
	}
	return nil
}

// unfit answers about a deployment that has no room: where err says so it is shown,
// and the exit code is 3. Other errors are bad input.
func unfit(env *Env, asJSON bool, r *api.InferRequest, what string, err error) error {
	var full *infer.MemoryError
	if !errors.As(err, &full) {
		return badInput(err)
	}
	d := report.NewUnfitDoc(r, full)
	var shown error
	if asJSON {
		shown = report.JSON(env.Stdout, d)
	} else {
		shown = env.print(func(p *report.Page) { report.Unfit(p, r, &d) })
	}
	if shown != nil {
		return shown
	}
	return infeasiblef("nothing to %s: %w", what, full)
}
