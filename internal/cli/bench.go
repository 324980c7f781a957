package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/prompt"
	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// benchFlags is what only the command line brings: files, secrets, thresholds.
type benchFlags struct {
	question           *ask.Bench
	keyEnv, keyFile    string
	tokenizer, dataset string
	records            string
	outputs            benchOutputs
	failAbove          float64
	delays             []unit.Seconds
	kept               keepFlags
}

// benchOutputs are files that hold the report in other forms.
type benchOutputs struct{ json, csv, html, prometheus string }

func newBenchCommand(env *Env) *cobra.Command {
	f := &benchFlags{question: ask.NewBench()}
	cmd := &cobra.Command{
		Use:     "bench",
		GroupID: groupMeasure,
		Short:   "Evaluate a service that speaks the OpenAI protocol",
		Long: `Put a load on a service and report what it did: a closed loop of so many requests in flight, an
open loop of so many per second, a trace, sessions of several turns, a sweep, or a search for the
highest load that meets an SLO. Latencies are of successes, failures stand first, rates count every
token that came; closed loops measure from the request sent, open ones from when it was due.

The key of the API is read from the environment or a file, never from the command line, and is sent
to no other host. Prompts are random and new in every run, so that no prefix cache knows them.
An interrupt gives up what is in flight and reports what was measured. docs/bench.md has more.

Exit codes beside the usual: 4 where --slo or --fail-above is missed.`,
		Example: `  ridgeline bench --url http://localhost:8000/v1 --model llama-3.1-8b --isl 1024 --osl 256 --concurrency 1..128
  ridgeline bench --url http://localhost:8000/v1 --model llama-3.1-8b --isl 1024 --osl 256 --rate 1,2,4 --duration 1min --slo ttft=500ms,tpot=30ms
  ridgeline bench --url http://localhost:8000/v1 --model llama-3.1-8b --isl 1024 --osl 256 --search rate=1..64 --duration 30s --slo ttft=500ms --slo-at p90
  ridgeline bench --url http://localhost:8000/v1 --model llama-3.1-8b --trace azure.csv.gz --speed 2 --records out.jsonl --html out.html`,
		Args: positional(0, 0, ""),
	}
	f.register(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return f.run(cmd, env, *asJSON) }
	cmd.AddCommand(newBenchMergeCommand(env))
	return cmd
}

func (f *benchFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.AddFlagSet(f.question.Flags)
	fs.StringVar(&f.keyEnv, "api-key-env", "OPENAI_API_KEY", "environment variable `NAME` that holds the API's key")
	fs.StringVar(&f.keyFile, "api-key-file", "", "`FILE` that holds the API's key")
	fs.StringVar(&f.tokenizer, "tokenizer", "", "`FILE` tokenizer.json of the model: prompts of exact length")
	fs.StringVar(&f.dataset, "dataset", "", "ask the dialogues in `FILE`, in the ShareGPT format, in place of random prompts")
	fs.StringVar(&f.records, "records", "", "write every request to `FILE` as it ends, one JSON object per line; - is stdout, in place of the report")
	f.outputs.register(cmd)
	dbFlag(cmd, &f.kept.db)
	fs.StringVar(&f.kept.name, "name", "", "keep the run as `NAME`, for `ridgeline runs`")
	ask.Switch(fs, &f.kept.off, "no-keep", "do not keep the run")
	fs.Var(ask.Quantity(&f.delays, ask.List(unit.ParseSeconds), "LIST", ""), "net-delay", "repeat the stages with each of these one-way delays put between: 0,0.5ms,1ms,2ms")
	fs.Var(ask.Quantity(&f.failAbove, unit.ParseFraction, "SHARE", ""), "fail-above", "exit 4 where more than this share of a stage's requests failed or was truncated: 1%")
	completions(cmd, map[string]cobra.CompletionFunc{"endpoint": completeWords(ask.Endpoints), "prompts": completeWords(ask.PromptKind),
		"preset": completeWords(ask.BenchPresets()), "slo-at": completeWords(bench.Statistics), "arrival": completeWords([]string{"poisson", "constant", "gamma:2"})})
}

func (o *benchOutputs) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&o.json, "out", "", "write the JSON document to `FILE` too")
	fs.StringVar(&o.csv, "csv", "", "write a row per stage to `FILE`")
	fs.StringVar(&o.html, "html", "", "write a page with plots to `FILE`")
	fs.StringVar(&o.prometheus, "prometheus", "", "write the figures in Prometheus' text format to `FILE`")
}

// config resolves names, files and the key.
func (f *benchFlags) config(cmd *cobra.Command) (*bench.Config, error) {
	if err := notEmpty(cmd, "url", "model", "records", "name", "db", "api-key-file", "api-key-env", "tokenizer", "dataset", "out", "csv", "html", "prometheus"); err != nil {
		return nil, err
	}
	if err := cmp.Or(runName("name", f.kept.name), oneFileEach(map[string]string{"out": f.outputs.json, "csv": f.outputs.csv, "html": f.outputs.html,
		"prometheus": f.outputs.prometheus, "records": f.records, "db": f.kept.db})); err != nil {
		return nil, err
	}
	c, err := f.question.Request(finder{})
	if err != nil {
		return nil, asked(cmd, err)
	}
	c.Version = version
	c.Service.Agent = "ridgeline/" + version
	if c.Service.Key, err = serviceKey(cmd, f.keyEnv, f.keyFile); err != nil {
		return nil, err
	}
	if f.tokenizer != "" {
		if c.Tokenizer, err = prompt.OpenTokenizer(f.tokenizer); err != nil {
			return nil, badInput(fmt.Errorf("--tokenizer: %w", err))
		}
		if c.Prompts == "" {
			c.Prompts = bench.Exact
		}
	}
	if f.dataset != "" {
		if c.Trace != nil || cmd.Flags().Changed("isl") || cmd.Flags().Changed("osl") {
			return nil, usagef("--dataset has its own lengths: leave --isl, --osl and --trace out")
		}
		if c.Dialogues, err = bench.OpenDialogues(f.dataset, c.Tokenizer); err != nil {
			return nil, badInput(fmt.Errorf("--dataset: %w", err))
		}
	}
	if cmd.Flags().Changed("think") && c.Turns <= 1 && c.Dialogues == nil {
		return nil, usagef("--think is between the turns of a session: give --turns, or leave it out")
	}
	return c, nil
}

// serviceKey is the key of a service's API, "" where there is none. A variable that
// the user names must be set; the usual one may be missing.
func serviceKey(cmd *cobra.Command, keyEnv, keyFile string) (string, error) {
	given := cmd.Flags().Changed
	if keyFile == "" {
		key := strings.TrimSpace(os.Getenv(keyEnv))
		if key == "" && given("api-key-env") {
			return "", usagef("--api-key-env %s: the variable is not set: export it, or name another", keyEnv)
		}
		return key, nil
	}
	if given("api-key-env") {
		return "", usagef("--api-key-env and --api-key-file: keep one")
	}
	return secretFile("api-key-file", keyFile)
}

func (f *benchFlags) run(cmd *cobra.Command, env *Env, asJSON bool) error {
	c, err := f.config(cmd)
	if err != nil {
		return err
	}
	stop, err := delayed(c, f.delays)
	defer stop()
	if err != nil {
		return err
	}
	if err := f.outputs.check(); err != nil {
		return err
	}
	var file *recordFile
	write := func(*bench.Record) error { return nil }
	switch {
	case f.records == "-" && asJSON:
		return usagef("--records - and --json both write to stdout: keep one, and give --out FILE for the other")
	case f.records == "-":
		write = bench.NewRecordWriter(env.Stdout).Write
	case f.records != "":
		if file, err = createRecords(f.records); err != nil {
			return err
		}
		write = file.write
	}
	var samples api.BenchSamples
	c.Record = func(r *bench.Record) error {
		samples.Add(r)
		return write(r)
	}
	watch := newBenchWatch(env.Stderr)
	d, err := bench.Run(cmd.Context(), *c, watch.show)
	watch.clear()
	if file != nil {
		d.Records = f.records
		if lost := file.close(); lost != nil {
			d.Unwritten = lost.Error()
		} else {
			d.Unwritten = "" // what failed at first was written in the end
		}
	}
	var wrong *bench.InputError
	switch {
	case errors.As(err, &wrong):
		return badInput(err)
	case err != nil:
		return err
	}
	f.kept.bench(cmd.Context(), env, &d, &samples)
	return f.show(env, cmd.Context(), asJSON, &d)
}

// show prints the report, writes the files, and judges.
func (f *benchFlags) show(env *Env, ctx context.Context, asJSON bool, d *bench.Report) error {
	var err error
	if f.records != "-" {
		err = showBench(env, asJSON, d)
	}
	if err == nil {
		err = f.outputs.write(d)
	}
	switch {
	case err != nil:
		return err
	case d.Unwritten != "":
		return fmt.Errorf("records: %s: the report is whole, the file is not", d.Unwritten)
	case ctx.Err() != nil:
		return errors.New("interrupted: the figures are those of what was measured so far")
	}
	return f.judge(d)
}

func showBench(env *Env, asJSON bool, d *bench.Report) error {
	if asJSON {
		return report.JSON(env.Stdout, d)
	}
	return env.print(func(p *report.Page) { report.Bench(p, d) })
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

// check tells of a file that cannot be written before anything is measured.
func (o *benchOutputs) check() error {
	return cmp.Or(writable("out", o.json), writable("csv", o.csv), writable("html", o.html), writable("prometheus", o.prometheus))
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

// judge turns what was measured into the exit code.
func (f *benchFlags) judge(d *bench.Report) error {
	ok, sent := 0, 0
	for i := range d.Stages {
		ok, sent = ok+d.Stages[i].Requests.OK, sent+d.Stages[i].Requests.Sent
	}
	if sent == 0 || ok == 0 {
		why := "none was sent"
		for i := range d.Stages {
			if names := d.Stages[i].Failures(); len(names) > 0 {
				why = "most ended as " + names[0]
				break
			}
		}
		return fmt.Errorf("no request succeeded: %s", why)
	}
	for i := range d.Stages {
		s := &d.Stages[i]
		bad := s.Requests.Failed + s.Requests.Truncated
		if f.failAbove > 0 && float64(bad) > f.failAbove*float64(s.Requests.Sent) {
			return &exitError{exitMissed, fmt.Errorf("stage %d: %d of %d requests failed or were truncated", i+1, bad, s.Requests.Sent)}
		}
		if s.Meets != nil && !*s.Meets && !f.question.Searching() {
			return &exitError{exitMissed, fmt.Errorf("the objective is missed in stage %d: %s", i+1, s.Missed)}
		}
	}
	if f.question.Searching() && d.Best == nil {
		return &exitError{exitMissed, errors.New("no load that was tried meets the objective: begin lower")}
	}
	return nil
}
