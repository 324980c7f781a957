package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/validate"
)

func newValidateAllCommand(env *Env) *cobra.Command {
	var runs, configs, document string
	cmd := &cobra.Command{
		Use:   "all",
		Short: "Predict a folder of every kind of measurement and state the errors beside the targets",
		Long: `Predict what a folder holds (operators/, inference_runs.csv, training_runs.csv and
requests/*.jsonl) and state the errors beside the targets that predictions are held to.

--document FILE writes the tables into a Markdown document, each between the lines
<!-- begin NAME --> and <!-- end NAME --> of targets, targets-left-out, training, training-models, training-layouts,
farthest, left-out, ranges, kernels, serving, serving-left-out, requests and requests-left-out,
with the date and the version. docs/accuracy.md is kept so.`,
		Example: `  ridgeline validate all --runs measured --configs hf-configs
  ridgeline validate all --runs measured --configs hf-configs --document docs/accuracy.md`,
		Args: positional(0, 0, ""),
	}
	cmd.Flags().StringVar(&runs, "runs", "", "read the measurements from the folder `DIR`")
	cmd.Flags().StringVar(&document, "document", "", "write the tables into the Markdown `FILE`")
	configsFlag(cmd, &configs)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkRuns(cmd, configs); err != nil {
			return err
		}
		if err := checkDocument(document); err != nil {
			return err
		}
		a, err := validate.All(cmd.Context(), runs, configs, func(kind string) { fmt.Fprintf(env.Stderr, "predicting %s\n", kind) })
		if stopped := cmd.Context().Err(); stopped != nil {
			return cmp.Or(err, errors.New("interrupted"))
		}
		if err != nil {
			return usagef("--runs: %w", err)
		}
		var lost error // tables that cannot be written cost no answer
		if document != "" && slices.ContainsFunc(a.Kinds(), func(k validate.Kind) bool { return k.Document.Scored > 0 }) {
			lost = writeAccuracy(document, a)
		}
		if *asJSON {
			err = report.JSON(env.Stdout, a.Summary())
		} else {
			err = env.print(func(p *report.Page) { report.Accuracy(p, a) })
		}
		return cmp.Or(lost, err, judgeAll(a))
	}
	return cmd
}

// judgeAll is bad input of any kind: what was left out is in the report, the exit code says so.
func judgeAll(a *validate.Accuracy) error {
	if n := len(a.Failed); n > 1 {
		return usagef("--runs: %d parts were not read, the first: %s", n, a.Failed[0])
	} else if n == 1 {
		return usagef("--runs: %s", a.Failed[0])
	}
	for _, k := range a.Kinds() {
		if err := judge(k.Document, nil); err != nil {
			return err
		}
	}
	return nil
}

// checkDocument refuses a document that the tables have no place in, before they are made.
func checkDocument(path string) error {
	if path == "" {
		return nil
	}
	_, err := replaceBlocks(path, nil)
	return err
}

func writeAccuracy(path string, a *validate.Accuracy) error {
	text, err := replaceBlocks(path, report.AccuracyBlocks(a, stamp(time.Now())))
	if err != nil {
		return err
	}
	return writeBytes(path, []byte(text))
}

// replaceBlocks is the document with the blocks in it; nil ones only look for their places.
func replaceBlocks(path string, blocks map[string]string) (string, error) {
	old, err := os.ReadFile(path)
	if err != nil {
		return "", usagef("--document: %w: give a Markdown file with lines <!-- begin NAME -->", err)
	}
	text, err := report.ReplaceBlocks(string(old), blocks)
	if err != nil {
		return "", usagef("--document: %s: %w", path, err)
	}
	return text, nil
}

// stamp says when tables were written and from which commit, where the build knows it.
func stamp(now time.Time) string {
	s := "Written on " + now.Format("2 January 2006") + " by `ridgeline validate all`"
	if info, ok := debug.ReadBuildInfo(); ok {
		revision, changed := "", ""
		for _, x := range info.Settings {
			switch {
			case x.Key == "vcs.revision":
				revision = x.Value[:min(len(x.Value), 10)]
			case x.Key == "vcs.modified" && x.Value == "true":
				changed = " with changes"
			}
		}
		if revision != "" {
			return s + " at commit " + revision + changed + "."
		}
	}
	return s + ", version " + version + "."
}
