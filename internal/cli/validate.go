package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/input"
	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/validate"
)

func newValidateCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "validate KIND",
		GroupID: groupPlan,
		Short:   "Compare predictions with published measurements",
		Example: "  ridgeline validate training --runs training_runs.csv --fail-above tokens_per_second_per_gpu=0.25",
		Args:    unknownKind,
		// Flags are of the kinds: where the kind is missing or unknown, that is what to say.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef("validate needs a kind: training, serving, requests, operators or all")
		},
	}
	cmd.AddCommand(newValidateTrainingCommand(env))
	cmd.AddCommand(newValidateServingCommand(env))
	cmd.AddCommand(newValidateRequestsCommand(env))
	cmd.AddCommand(newValidateOperatorsCommand(env))
	cmd.AddCommand(newValidateAllCommand(env))
	return cmd
}

func unknownKind(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return unknownWord("kind of validation", args[0], []string{"training", "serving", "requests", "operators", "all"}, "use training, serving, requests, operators or all")
}

func newValidateTrainingCommand(env *Env) *cobra.Command {
	var runs string
	var p validate.Predictor
	var limits []string
	var leaveOut bool
	cmd := &cobra.Command{
		Use:   "training",
		Short: "Predict published training runs and state the errors",
		Long: `Predict every run of a table from its description alone and state the errors: tokens per
second and GPU, and memory where the run states it. What a row leaves unsaid is what its
source's engine did, or the least recomputation that fits. docs/formats.md lists the columns.

--leave-out fits the constants of whole steps again to the table, without the model, the GPU and the
framework (source) of each run, and without each fifth of the rows and of the jobs, and states the errors
of that beside. The other runs have to hold five dense ones of some GPU; where they do not, that part is
not stated, and a line says so.

--fail-above METRIC=FRACTION exits with 4 where a metric's median error is larger.`,
		Example: `  ridgeline validate training --runs training_runs.csv
  ridgeline validate training --runs training_runs.csv --json --fail-above tokens_per_second_per_gpu=0.25`,
		Args: positional(0, 0, ""),
	}
	cmd.Flags().StringVar(&runs, "runs", "", "read the runs from `FILE`, CSV or JSON lines")
	cmd.Flags().StringArrayVar(&limits, "fail-above", nil, "exit 4 if the median error of `METRIC=FRACTION` is larger")
	ask.Switch(cmd.Flags(), &leaveOut, "leave-out", "state the errors of each run with constants fitted to the others")
	configsFlag(cmd, &p.Configs)
	machine := machineFlag(cmd)
	show := env.validationShow(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkRuns(cmd, p.Configs, *machine); err != nil {
			return err
		}
		var err error
		if p.Machine, err = readMachine(*machine); err != nil {
			return err
		}
		thresholds, err := readThresholds(limits, validate.MetricThroughput, validate.MetricMemory)
		if err != nil {
			return err
		}
		d, err := validateTraining(cmd.Context(), runs, leaveOut, &p)
		if err != nil {
			return err
		}
		if err := show(cmd, d, report.Validation); err != nil {
			return err
		}
		if err := cmp.Or(interrupted(d), judge(d, thresholds)); err != nil || !leaveOut || len(d.LeftOut) > 0 {
			return err
		}
		return usagef("--leave-out: nothing could be left out: %s: give more runs, or leave the flag out", cmp.Or(strings.Join(d.LeftOutNotes, "; "), "no run was predicted"))
	}
	return cmd
}

func validateTraining(ctx context.Context, path string, leaveOut bool, p *validate.Predictor) (*validate.Document, error) {
	f, err := input.Open(path)
	if err != nil {
		return nil, usagef("--runs: %w: give a file of runs, CSV or JSON lines", err)
	}
	defer f.Close()
	runs, bad, err := validate.ReadRuns(f, path)
	if err != nil {
		return nil, badInput(err)
	}
	d := validate.Training(ctx, runs, bad, p)
	if leaveOut && ctx.Err() == nil {
		if d.LeftOut, d.LeftOutNotes, err = validate.TrainingLeaveOut(ctx, runs, p); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// threshold is a metric's largest median error.
type threshold struct {
	metric string
	most   float64
}

// missed is the exit for the first threshold that is missed. A metric without a
// single scored row is missed too.
func missed(d *validate.Document, list []threshold) error {
	for _, t := range list {
		e := d.Metrics[t.metric]
		switch {
		case e.N == 0:
			return &exitError{exitMissed, fmt.Errorf("no row of %s was scored: the threshold %g cannot be met", t.metric, t.most)}
		case e.Spread != nil && e.Spread.Mean > t.most:
			return &exitError{exitMissed, fmt.Errorf("the mean of %s is off by %.3f, more than %g", t.metric, e.Spread.Mean, t.most)}
		case e.Spread == nil && e.MedianAPE > t.most:
			return &exitError{exitMissed, fmt.Errorf("the median error of %s is %.3f, above %g", t.metric, e.MedianAPE, t.most)}
		}
	}
	return nil
}

// validationShow adds --json and --html to a kind of validation and gives what shows
// its document.
func (env *Env) validationShow(cmd *cobra.Command) func(*cobra.Command, *validate.Document, func(*report.Page, *validate.Document)) error {
	asJSON := jsonFlag(cmd)
	html := cmd.Flags().String("html", "", "write a page with plots of predicted against measured to `FILE`")
	return func(cmd *cobra.Command, d *validate.Document, text func(*report.Page, *validate.Document)) error {
		var lost error // a page that cannot be written costs no answer
		switch {
		case !cmd.Flags().Changed("html"):
		case d.Scored == 0 && isRegular(*html): // what an earlier call drew is worth more
			fmt.Fprintf(env.Stderr, "warning: --html %s: no row is scored, the page of before stays\n", *html)
		default:
			lost = writeFile(*html, func(w io.Writer) error { return report.ValidationHTML(w, commandLine(cmd), d, text) })
		}
		if *asJSON {
			return cmp.Or(lost, report.JSON(env.Stdout, d))
		}
		return cmp.Or(lost, env.print(func(p *report.Page) { text(p, d) }))
	}
}

// isRegular tells whether a file is there, a device or a pipe apart.
func isRegular(name string) bool {
	st, err := os.Stat(name)
	return err == nil && st.Mode().IsRegular()
}

// checkRuns refuses a validation without runs, with a folder of configurations that
// cannot be read, or with outputs that checkOutputs refuses; others are inputs beside them.
func checkRuns(cmd *cobra.Command, configs string, others ...string) error {
	if err := required(cmd, "runs"); err != nil {
		return err
	}
	if err := notEmpty(cmd, "runs", "configs", "cluster"); err != nil {
		return err
	}
	if err := checkConfigs(configs); err != nil {
		return err
	}
	return checkOutputs(cmd, []string{"html", "predictions", "document"}, append(others, cmd.Flag("runs").Value.String(), configs)...)
}

// readThresholds reads METRIC=FRACTION for the metrics that a kind has.
func readThresholds(texts []string, metrics ...string) ([]threshold, error) {
	var list []threshold
	for _, t := range texts {
		metric, value, _ := strings.Cut(t, "=")
		number, percent := strings.CutSuffix(value, "%")
		most, err := strconv.ParseFloat(number, 64)
		if percent {
			most /= 100
		}
		if !slices.Contains(metrics, metric) || err != nil || !(most >= 0) || math.IsInf(most, 0) {
			return nil, usagef("--fail-above %q: give METRIC=FRACTION with one of %s, for example %s=0.12 or %s=12%%", t, strings.Join(metrics, ", "), metrics[0], metrics[0])
		}
		list = append(list, threshold{metric, most})
	}
	return list, nil
}

// interrupted is the error of a document that an interrupt left without some of its rows.
func interrupted(d *validate.Document) error {
	if done := d.Scored + len(d.Skipped); done < d.Rows {
		return fmt.Errorf("interrupted: %d of %d rows were predicted", done, d.Rows)
	}
	return nil
}

// machineFlag adds --cluster, the machine that runs are predicted on.
func machineFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("cluster", "", "predict the runs on the machine of `FILE`, .yaml, as calibrate writes it, instead of the catalogue's")
}

// readMachine reads --cluster; nil where it was not given.
func readMachine(file string) (*hw.Cluster, error) {
	if file == "" {
		return nil, nil
	}
	c, err := catalog.Cluster(file)
	if err != nil {
		return nil, usagef("--cluster: %w", err)
	}
	return c, nil
}
