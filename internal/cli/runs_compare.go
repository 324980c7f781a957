package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/store"
)

func newRunsCompareCommand(env *Env) *cobra.Command {
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
	onRuns(cmd, func(_ context.Context, runs []*store.Run, _ string, asJSON bool) error {
		c, err := api.CompareRuns(runs[0], runs[1])
		if err != nil {
			return badInput(err)
		}
		return showCompared(env, asJSON, c)
	})
	return cmd
}

func showCompared(env *Env, asJSON bool, c *api.RunsCompared) error {
	switch {
	case c.Gap != nil && asJSON:
		return report.JSON(env.Stdout, report.NewGapDoc(c.A, c.B, c.Gap))
	case c.Gap != nil:
		return env.print(func(p *report.Page) { report.Gap(p, c.A, c.B, c.Gap) })
	case asJSON:
		return report.JSON(env.Stdout, report.NewComparisonDoc(c.A, c.B, c.Measured))
	}
	return env.print(func(p *report.Page) { report.Comparison(p, c.A, c.B, c.Measured) })
}
