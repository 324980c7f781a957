package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/bench"
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
		"preset": completeWords(ask.BenchPresets()), "slo-at": completeWords(bench.Promises), "arrival": completeWords([]string{"poisson", "constant", "gamma:2"})})
}

func (f *benchFlags) run(cmd *cobra.Command, env *Env, asJSON bool) error {
	c, err := f.config(cmd)
	if err != nil {
		return err
	}
	if err := f.kept.ready(cmd.Context(), env); err != nil {
		return err
	}
	stop, err := delayed(c, f.delays)
	defer stop()
	if err != nil {
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
		file = &recordFile{name: f.records}
		write = file.write
	}
	var samples api.BenchSamples
	c.Record = func(r *bench.Record) error {
		samples.Add(r)
		return write(r)
	}
	watch := newBenchWatch(env.Stderr)
	told := f.kept.tell(cmd.Context(), c)
	defer told.end()
	d, err := bench.Run(cmd.Context(), *c, func(x bench.Event) {
		watch.show(x)
		told.show(x)
	})
	watch.clear()
	if file != nil {
		if file.f != nil {
			d.Records = f.records
		}
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
