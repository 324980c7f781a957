package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/benchfile"
	"github.com/ridgeline/ridgeline/internal/input"
	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/store"
)

func newRunsImportCommand(env *Env) *cobra.Command {
	var k keepFlags
	var format string
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Keep reports of other tools, or documents of this one",
		Long: `Read reports of vllm bench serve (--save-result), AIPerf (profile_export_aiperf.json), llm-d
(benchmark report as JSON) and InferenceX (result JSON), or documents that this program printed with
--json, and keep them. Figures that a file does not state stay unknown.`,
		Example: `  ridgeline runs import vllm.json --name before
  ridgeline runs import profile_export_aiperf.json --format aiperf`,
		Args: positional(1, 1000, "FILE, a report in JSON"),
	}
	dbFlag(cmd, &k.db)
	cmd.Flags().StringVar(&k.name, "name", "", "keep them as `NAME`")
	cmd.Flags().StringVar(&format, "format", "", "`TOOL` that wrote them: "+strings.Join(benchfile.Formats, ", ")+" or ridgeline (default: told by their keys)")
	formats := append([]string{"ridgeline"}, benchfile.Formats...)
	completions(cmd, map[string]cobra.CompletionFunc{"format": completeWords(formats)})
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		known := format == ""
		for _, f := range formats {
			known = known || f == format
		}
		if !known {
			return badInput(ask.UnknownWord("format", format, formats, "use one of "+strings.Join(formats, ", ")))
		}
		if err := runName("name", k.name); err != nil {
			return err
		}
		var runs []*store.Run
		for _, path := range args {
			r, err := importFile(path, format)
			if err != nil {
				return badInput(err)
			}
			r.Name = k.name
			runs = append(runs, r)
		}
		d, err := openStore(cmd.Context(), k.db, true)
		if err != nil {
			return err
		}
		defer d.Close()
		for _, r := range runs {
			if r.ID, err = d.Add(cmd.Context(), r); err != nil {
				return err
			}
		}
		if *asJSON {
			return report.JSON(env.Stdout, report.NewRunsDoc(runs))
		}
		return env.print(func(p *report.Page) { report.Runs(p, runs) })
	}
	return cmd
}

// importFile reads a file of either kind: this program's own documents first.
func importFile(path, format string) (*store.Run, error) {
	if format == "" || format == "ridgeline" {
		r, err := ownFile(path)
		if err == nil || format != "" {
			return r, err
		}
	}
	i, err := benchfile.Open(path, format)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(i.Report)
	if err != nil {
		return nil, err
	}
	r, err := api.RunOf(raw)
	if err != nil {
		return nil, err
	}
	r.Source = i.Source
	for stage, values := range i.Values {
		for metric, v := range values {
			r.Samples = append(r.Samples, store.Sample{Stage: stage, Metric: metric, Values: v})
		}
	}
	if !i.At.IsZero() {
		r.At = i.At
	}
	return r, nil
}

// maxDocument bounds a document of this program.
const maxDocument = 256 << 20

func ownFile(path string) (*store.Run, error) {
	f, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := input.Text(f, maxDocument)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	raw, err := io.ReadAll(t)
	if err == nil {
		var r *store.Run
		if r, err = api.RunOf(raw); err == nil {
			return r, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", path, err)
}
