package cli

import (
	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/compare"
	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/store"
)

func newRunsCompareCommand(env *Env) *cobra.Command {
	var db string
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Compare two measurements, or a prediction with a measurement",
		Long: `Hold B against A, load by load. Of two measurements: means and percentiles, their change, and the
95 % interval of the change, a bootstrap over requests where their values were kept, Welch's for the
means where not; percentiles have none then. Intervals say nothing of what differs from one run to
the next: repeat runs to see that. Of a prediction or simulation and a measurement: the error of
each mean, and of TTFT what the service's own metrics explain.`,
		Example: `  ridgeline runs compare last~1 last
  ridgeline runs compare plan-a 12 --json`,
		Args: positional(2, 2, "two runs, A and B: numbers, names or last"),
	}
	dbFlag(cmd, &db)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		runs, err := findRuns(cmd.Context(), db, args)
		if err != nil {
			return err
		}
		a, b := runs[0], runs[1]
		switch predicted := func(r *store.Run) bool { return r.Kind == store.Prediction || r.Kind == store.Simulation }; {
		case a.Kind == store.Bench && b.Kind == store.Bench:
			return compareMeasured(env, *asJSON, a, b)
		case predicted(a) && b.Kind == store.Bench:
			return comparePredicted(env, *asJSON, a, b)
		case predicted(b) && a.Kind == store.Bench:
			return comparePredicted(env, *asJSON, b, a)
		}
		return usagef("run %d is a %s and run %d a %s: give two measurements (bench), or a prediction or simulation and a measurement", a.ID, a.Kind, b.ID, b.Kind)
	}
	return cmd
}

func compareMeasured(env *Env, asJSON bool, a, b *store.Run) error {
	x, err := side(a)
	if err != nil {
		return err
	}
	y, err := side(b)
	if err != nil {
		return err
	}
	c := compare.Measurements(x, y)
	if asJSON {
		return report.JSON(env.Stdout, report.NewComparisonDoc(a, b, c))
	}
	return env.print(func(p *report.Page) { report.Comparison(p, a, b, c) })
}

// side is a kept measurement as comparisons take it.
func side(r *store.Run) (compare.Side, error) {
	d, err := benchOf(r)
	return compare.Side{Report: d, Values: func(stage int, metric string) []float32 {
		for _, s := range r.Samples {
			if s.Stage == stage && s.Metric == metric {
				return s.Values
			}
		}
		return nil
	}}, err
}

func comparePredicted(env *Env, asJSON bool, predicted, measured *store.Run) error {
	points, err := compare.ReadPrediction(predicted.Document)
	if err != nil {
		return usagef("run %d: %w", predicted.ID, err)
	}
	d, err := benchOf(measured)
	if err != nil {
		return err
	}
	g := compare.Prediction(points, d)
	if asJSON {
		return report.JSON(env.Stdout, report.NewGapDoc(predicted, measured, g))
	}
	return env.print(func(p *report.Page) { report.Gap(p, predicted, measured, g) })
}
