package cli

import (
	"io"

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

// benchFiles are the flags of files that a benchmark or a merge writes.
var benchFiles = []string{"out", "csv", "html", "prometheus", "records", "db"}

// write writes every file that it can, and tells of all others.
func (o *benchOutputs) write(d *bench.Report) error {
	var lost []error
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
		lost = append(lost, writeFile(x.name, x.how))
	}
	return joined(lost...)
}
