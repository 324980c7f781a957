package cli

import (
	"cmp"
	"io"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/report"
)

// benchOutputs are files that hold the report in other forms.
type benchOutputs struct{ json, csv, html, prometheus string }

func (o *benchOutputs) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&o.json, "out", "", "write the JSON document to `FILE` too")
	fs.StringVar(&o.csv, "csv", "", "write a row per stage to `FILE`")
	fs.StringVar(&o.html, "html", "", "write a page with plots to `FILE`")
	fs.StringVar(&o.prometheus, "prometheus", "", "write the figures in Prometheus' text format to `FILE`")
}

// check tells of a file that cannot be written before anything is measured.
func (o *benchOutputs) check() error {
	return cmp.Or(writable("out", o.json), writable("csv", o.csv), writable("html", o.html), writable("prometheus", o.prometheus))
}

// oneFileEach refuses two flags that name one file: the later one would take the place
// of the earlier.
func oneFileEach(files map[string]string) error {
	by := map[string]string{}
	for _, flag := range slices.Sorted(maps.Keys(files)) {
		name := files[flag]
		if name == "" || name == "-" {
			continue
		}
		if whole, err := filepath.Abs(name); err == nil {
			name = whole
		}
		if other := by[name]; other != "" {
			return usagef("--%s and --%s name the same file %s: give each its own", other, flag, files[flag])
		}
		by[name] = flag
	}
	return nil
}

func (o *benchOutputs) write(d *bench.Report) error {
	for _, x := range []struct {
		name string
		how  func(io.Writer) error
	}{
		{o.json, func(w io.Writer) error { return report.JSON(w, d) }},
		{o.csv, func(w io.Writer) error { return report.BenchCSV(w, d) }},
		{o.html, func(w io.Writer) error { return report.BenchHTML(w, d) }},
		{o.prometheus, func(w io.Writer) error { return report.BenchPrometheus(w, d) }},
	} {
		if x.name == "" {
			continue
		}
		if err := writeFile(x.name, x.how); err != nil {
			return err
		}
	}
	return nil
}
