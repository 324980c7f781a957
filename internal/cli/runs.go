package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/store"
)

func newRunsCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "runs",
		GroupID: groupMeasure,
		Short:   "List, show, compare, import and delete kept runs",
		Long: `Runs are kept in one SQLite file: those of ` + "`bench`" + ` always (but with --no-keep), answers of infer,
simulate, probe and validate with --keep NAME, reports of vLLM, AIPerf, llm-d and InferenceX by
import. Neither keys nor prompts nor answers are in it.

A run is named by its number, by the name it was kept under, or by its age: last, last~1.`,
		Example: `  ridgeline runs list --kind bench
  ridgeline runs compare last~1 last`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRunsListCommand(env), newRunsShowCommand(env), newRunsCompareCommand(env), newRunsDeleteCommand(env), newRunsImportCommand(env))
	return cmd
}

func newRunsListCommand(env *Env) *cobra.Command {
	var db, kind string
	var f store.Filter
	var most int64
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List kept runs, the latest first",
		Example: `  ridgeline runs list
  ridgeline runs list --kind bench --model llama --limit 10 --json`,
		Args: positional(0, 0, ""),
	}
	dbFlag(cmd, &db)
	var kinds []string
	for _, k := range store.Kinds {
		kinds = append(kinds, string(k))
	}
	cmd.Flags().StringVar(&kind, "kind", "", "`KIND`: bench, prediction, simulation, probe or validation")
	cmd.Flags().StringVar(&f.Model, "model", "", "only models whose name holds `TEXT`")
	cmd.Flags().StringVar(&f.Name, "name", "", "only runs whose name holds `TEXT`")
	countFlag(cmd, &most, "limit", "runs to list (default: all)")
	completions(cmd, map[string]cobra.CompletionFunc{"kind": completeWords(kinds)})
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := notZero(cmd, "limit"); err != nil {
			return err
		}
		if f.Kind = store.Kind(kind); kind != "" && !slices.Contains(kinds, kind) {
			return badInput(ask.UnknownWord("kind", kind, kinds, "use bench, prediction, simulation, probe or validation"))
		}
		f.Most = int(min(most, 1<<31-1))
		d, err := openStore(cmd.Context(), db, false)
		if err != nil {
			return err
		}
		defer d.Close()
		list, err := d.List(cmd.Context(), f)
		if err != nil {
			return err
		}
		if *asJSON {
			return report.JSON(env.Stdout, report.NewRunsDoc(list))
		}
		return env.print(func(p *report.Page) { report.Runs(p, list) })
	}
	return cmd
}

func newRunsShowCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "Show one kept run; with --json its document",
		Example: `  ridgeline runs show last
  ridgeline runs show 12 --json`,
		Args: positional(1, 1, "RUN, a number, a name or last"),
	}
	onRuns(cmd, func(_ context.Context, runs []*store.Run, _ string, asJSON bool) error {
		r := runs[0]
		if asJSON {
			return report.JSON(env.Stdout, r.Document)
		}
		if r.Kind != store.Bench {
			return env.print(func(p *report.Page) { report.Run(p, r, nil) })
		}
		d, err := api.BenchOf(r)
		if err != nil {
			return err
		}
		return env.print(func(p *report.Page) { report.Run(p, r, d) })
	})
	return cmd
}

// onRuns makes cmd do something with the kept runs that its arguments name.
func onRuns(cmd *cobra.Command, do func(ctx context.Context, runs []*store.Run, db string, asJSON bool) error) {
	var db string
	dbFlag(cmd, &db)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		runs, err := findRuns(cmd.Context(), db, args, cmd.Name() == deleteRuns)
		if err != nil {
			return err
		}
		return do(cmd.Context(), runs, db, *asJSON)
	}
}

// deleteRuns is the one command that takes damaged runs: it is what mends them.
const deleteRuns = "delete"

// findRuns finds every word's run, damaged ones where they are asked for.
func findRuns(ctx context.Context, db string, words []string, damagedToo bool) (runs []*store.Run, err error) {
	d, err := openStore(ctx, db, false)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	for _, w := range words {
		r, err := d.Find(ctx, w)
		if err != nil && (!damagedToo || !errors.Is(err, store.ErrDamaged)) {
			return nil, badInput(err)
		}
		runs = append(runs, r)
	}
	return runs, nil
}

func newRunsDeleteCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     deleteRuns + " RUN...",
		Short:   "Delete kept runs",
		Example: `  ridgeline runs delete 3 4`,
		Args:    positional(1, 10_000, "RUN, a number, a name or last"),
	}
	onRuns(cmd, func(ctx context.Context, runs []*store.Run, db string, asJSON bool) error {
		var ids []int64
		for _, r := range runs {
			ids = append(ids, r.ID)
		}
		d, err := openStore(ctx, db, false)
		if err != nil {
			return err
		}
		defer d.Close()
		slices.Sort(ids)
		ids = slices.Compact(ids)
		if err := d.Delete(ctx, ids...); err != nil {
			return err
		}
		if asJSON {
			return report.JSON(env.Stdout, map[string][]int64{"deleted": ids})
		}
		return env.print(func(p *report.Page) { p.Line("%s deleted", report.Plural(int64(len(ids)), "run")) })
	})
	return cmd
}
