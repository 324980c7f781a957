package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/input"
	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/validate"
)

// servingFlags is whole runs of serving engines and what to make of them.
type servingFlags struct {
	runs, configs, profiles, what string
}

func (f *servingFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.runs, "serving-runs", "", "fit what engines add to their kernels to the runs of a CSV `FILE`, as validate serving reads it")
	fs.StringVar(&f.configs, "configs", "", "`DIR` of Hugging Face configurations for the models of --serving-runs")
	fs.StringVar(&f.profiles, "engine-profiles", "", "refit the profiles of all engines of --serving-runs and write them to `FILE`, .json; no machine is made")
	fs.StringVar(&f.what, "serving-source", "", "`TEXT` that says where --serving-runs come from (default: the file's name)")
}

// read gives the runs; rows that make no sense are an error, since a fit to what is left
// would hide them.
func (f *servingFlags) read() ([]validate.ServingRun, error) {
	if f.runs == "" {
		if f.configs != "" || f.profiles != "" || f.what != "" {
			return nil, usagef("--configs, --engine-profiles and --serving-source belong to --serving-runs: give it")
		}
		return nil, nil
	}
	in, err := input.Open(f.runs)
	if err != nil {
		return nil, usagef("%w: give a table of serving runs", err)
	}
	defer in.Close()
	runs, bad, err := validate.ReadServing(in, f.runs)
	if err != nil {
		return nil, badInput(err)
	}
	if len(bad) > 0 {
		return nil, usagef("%s: row %s: %s", f.runs, bad[0].ID, bad[0].Reason)
	}
	return runs, nil
}

// refit writes the profiles of all engines of the runs.
func (f *servingFlags) refit(cmd *cobra.Command, env *Env, runs []validate.ServingRun, asJSON bool) error {
	fmt.Fprintf(env.Stderr, "fitting engine profiles to %d runs, each model left out in turn: this takes minutes\n", len(runs))
	fits, twice, err := validate.FitProfiles(cmd.Context(), runs, f.configs)
	if err != nil {
		return failed(cmd, fmt.Errorf("--serving-runs %s: %w", f.runs, err))
	}
	for _, s := range twice {
		fmt.Fprintf(env.Stderr, "run %s: %s\n", s.ID, s.Reason)
	}
	if len(fits) == 0 {
		return usagef("--serving-runs %s: no run can be predicted: `ridgeline validate serving` says why", f.runs)
	}
	what := f.what
	if what == "" {
		what = f.runs
	}
	list := validate.Stored(fits, infer.Profiles(), what)
	data, err := infer.EncodeProfiles(list)
	if err != nil {
		return err
	}
	if err := writeBytes(f.profiles, data); err != nil {
		return err
	}
	if asJSON {
		return report.JSON(env.Stdout, report.NewProfilesDoc(fits, f.profiles))
	}
	return env.print(func(p *report.Page) { report.Profiles(p, fits, f.profiles) })
}
