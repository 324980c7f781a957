package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/calib"
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/tune"
	"github.com/ridgeline/ridgeline/internal/validate"
)

// calibrateFlags is the measurements as the user named them.
type calibrateFlags struct {
	cluster, name, engine, out, tables string
	runs                               []string
	threads                            int64
	training                           trainingFlags
	bench                              sweepFlags
	serving                            servingFlags
}

func newCalibrateCommand(env *Env) *cobra.Command {
	f := &calibrateFlags{}
	cmd := &cobra.Command{
		Use:     "calibrate [RECORD]...",
		GroupID: groupMeasure,
		Short:   "Fit a machine's figures from measurements and write a machine file",
		Long: `Write a machine file that --cluster of every command takes, from records: those of ` + "`ridgeline probe`" + `,
or the output of any tool that ` + "`ridgeline probe read`" + ` understands. With --cluster the file starts from
that machine; without it from the CPU that a record measured.

--run MODEL=FILE adds the steps of an engine with a model (llama-bench's output, the JSON of
bench, or /steps of engine/llamacpp) and fits the engine's rates on this machine: on one model, for all others.
--tables DIR fits the kernel constants of GPU generations from a folder <gpu>/<kind>/*.parquet and
writes them beside the machine file; that takes minutes. What it has no tables of stays the catalogue's.

--training MODEL=LOG adds a training log of Megatron-LM, torchtitan or NeMo. Name its job as in
` + "`ridgeline train`" + ` with --plan, --global-batch, --seq and --precision: each once for all logs, or once for
each in their order; keys of the layout that a log itself states may be left out, and must agree. Fitted are
the figures that the steps tell apart: the share of its speed that lasting
load leaves a device (sustained_share) and, of several layouts, what links achieve. Figures that they do not
tell stay as they are, with the reason. With --cluster alone and no --gpus a log is of all its GPUs.

--bench MODEL=FILE takes the closed loops of ` + "`ridgeline bench --json`" + ` as such runs on --cluster, of the deployment
that --layout, --weights and --engine name. --serving-runs FILE fits what serving engines add to their kernels to whole runs, rows as
` + "`ridgeline validate serving`" + ` reads them: with --cluster the runs on that machine to its own
constants; with --engine-profiles all runs to profiles such as those that Ridgeline ships, which
takes minutes.

The report lists every figure that changed, each run beside the fit and beside what the other runs
predict for it, and measurements that no figure takes. The catalogue itself is never edited.`,
		Example: `  ridgeline calibrate cpu.json --run small-q8_0.gguf=steps.json --out cpu.yaml
  ridgeline calibrate gpu.json all_reduce_perf.txt --cluster h100x8 --out our-h100.yaml
  ridgeline calibrate --cluster h100x64 --training llama-3.1-70b=megatron.log --plan tp=4,pp=4,mbs=1 --global-batch 128 --seq 8192 --out our-h100.yaml
  ridgeline calibrate --cluster h200x8 --bench llama-3.1-70b=sweep.json --bench llama-3.1-8b=small.json --layout tp=8 --weights fp8 --engine vllm --out our-h200.yaml
  ridgeline calibrate --serving-runs runs.csv --cluster h200x8 --out our-h200.yaml
  ridgeline calibrate --serving-runs runs.csv --configs hf-configs --engine-profiles profiles.json
  ridgeline calibrate --tables operators --cluster h200x8 --out our-h200.yaml`,
	}
	fs := cmd.Flags()
	fs.StringVar(&f.cluster, "cluster", "", "start from this `MACHINE`: GPU and count, a catalogue name or a YAML file")
	fs.StringVar(&f.name, "name", "", "`NAME` of the machine (default: the base's, or the host's)")
	fs.StringArrayVar(&f.runs, "run", nil, "an engine's steps with a model, `MODEL=FILE`; may be given several times")
	fs.StringVar(&f.engine, "engine", "", "`ENGINE` of the runs (default: the usual one of the machine)")
	fs.StringVar(&f.tables, "tables", "", "fit kernel constants from the tables below `DIR`")
	fs.StringVar(&f.out, "out", "", "write the machine `FILE`, .yaml")
	countFlag(cmd, &f.threads, "threads", "of a CPU that the engine takes (default 1)")
	f.training.register(cmd)
	f.bench.register(cmd)
	f.serving.add(cmd)
	completions(cmd, map[string]cobra.CompletionFunc{"cluster": completeCluster})
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.check(cmd, args); err != nil {
			return err
		}
		runs, err := f.serving.read()
		if err != nil {
			return err
		}
		if f.serving.profiles != "" {
			return f.serving.refit(cmd, env, runs, *asJSON)
		}
		in, err := f.input(cmd, args, runs)
		if err != nil {
			return err
		}
		o, err := tune.Fit(cmd.Context(), in)
		if err != nil {
			return failed(cmd, err)
		}
		kernels, constants, err := f.kernels(cmd, env, o)
		if err != nil {
			return err
		}
		if kernels == "" && len(o.Changes)+len(o.Residuals) == 0 {
			return usagef("no figure of a machine changes, nothing is written: %s", firstUnused(o))
		}
		data, err := catalog.EncodeCluster(o.Machine, kernels)
		if err != nil {
			return badInput(err)
		}
		if err := writeFiles(constants, outFile{f.out, data}); err != nil {
			return err
		}
		for _, w := range o.Warnings {
			fmt.Fprintf(env.Stderr, "warning: %s\n", w)
		}
		if *asJSON {
			return report.JSON(env.Stdout, report.NewMachineDoc(o, f.out))
		}
		return env.print(func(p *report.Page) { report.Calibration(p, o, f.out) })
	}
	return cmd
}

// firstUnused words why nothing was taken.
func firstUnused(o *tune.Outcome) string {
	switch n := len(o.Unused); n {
	case 0:
		return "the records hold no result"
	case 1:
		return o.Unused[0]
	default:
		last := o.Unused[n-1] // sweeps end with their largest message
		if n == 2 {
			return o.Unused[0] + "; " + last
		}
		return fmt.Sprintf("%s; %s; and %s more", o.Unused[0], last, report.Plural(int64(n-2), "measurement"))
	}
}

// input reads everything that was named.
func (f *calibrateFlags) input(cmd *cobra.Command, args []string, serving []validate.ServingRun) (*tune.Input, error) {
	if len(args)+len(f.runs)+len(f.training.logs)+len(f.bench.files)+len(serving) == 0 && f.tables == "" {
		return nil, usagef("calibrate needs records, --run, --training, --bench, --serving-runs or --tables: see `ridgeline calibrate --help`")
	}
	if f.threads > 1<<16 {
		return nil, usagef("--threads %d: give at most %d", f.threads, 1<<16)
	}
	in := &tune.Input{Serving: serving, Configs: f.serving.configs, Name: f.name, Engine: f.engine, Threads: int(f.threads)}
	if len(serving) > 0 && f.cluster == "" {
		return nil, usagef("--serving-runs needs --cluster, the machine that they ran on, or --engine-profiles")
	}
	if f.cluster != "" {
		c, err := catalog.Cluster(f.cluster)
		if err != nil {
			return nil, badInput(err)
		}
		in.Base = c
	}
	for i, name := range args {
		if slices.Contains(args[:i], name) {
			return nil, usagef("%s is given twice: give each record once", name)
		}
		rec, err := readRecord(name)
		if err != nil {
			return nil, err
		}
		rec.Source = name // what the user can look into; a record of ours names its command
		in.Records = append(in.Records, rec)
	}
	for _, text := range f.runs {
		run, err := readRun(text)
		if err != nil {
			return nil, err
		}
		in.Runs = append(in.Runs, run)
	}
	benched, skipped, err := f.bench.read(in.Base, f.engine)
	if err != nil {
		return nil, err
	}
	in.ServingFrom = strings.Join(slices.DeleteFunc(append([]string{f.serving.runs}, f.bench.files...), func(s string) bool { return s == "" }), ", ")
	in.Serving, in.Unused = append(in.Serving, benched...), f.bench.notes(skipped)
	in.Training, err = f.training.read(cmd, in.Base)
	return in, err
}

// readRun reads MODEL=FILE.
func readRun(text string) (run tune.Run, err error) {
	name, file, ok := strings.Cut(text, "=")
	if !ok || name == "" || file == "" {
		return run, usagef("--run %q: give MODEL=FILE, for example small-q8_0.gguf=steps.json", text)
	}
	if run.Model, err = findModel(name, ""); err != nil {
		return run, err
	}
	if run.Record, err = readRecord(file); err != nil {
		return run, err
	}
	return run, sameModel(name, file, run)
}

// sameModel refuses the steps of a model that they name and the catalogue knows as another
// one. Names that it does not know may be a service's own.
func sameModel(name, file string, run tune.Run) error {
	for i := range run.Record.Results {
		said := run.Record.Results[i].Model
		if said == "" || strings.EqualFold(filepath.Base(said), filepath.Base(name)) {
			continue
		}
		if m, err := catalog.Model(said); err == nil && m.Params() != run.Model.Params() {
			return usagef("--run %s=%s: the file says that it measured %s, of %s parameters; %s has %s: name the model that was measured",
				name, file, said, report.Grouped(m.Params()), name, report.Grouped(run.Model.Params()))
		}
	}
	return nil
}

// kernels fits the tables; it gives the name by which the machine file refers to the constants of the
// machine's generation, "" without tables, and the file beside it that is to hold them.
func (f *calibrateFlags) kernels(cmd *cobra.Command, env *Env, o *tune.Outcome) (name string, file outFile, err error) {
	if f.tables == "" {
		return "", file, nil
	}
	arch := o.Machine.Device.Arch
	fmt.Fprintf(env.Stderr, "fitting kernel tables below %s: this takes minutes\n", f.tables)
	r, err := calib.Fit(cmd.Context(), f.tables, arch)
	if err != nil {
		return "", file, failed(cmd, fmt.Errorf("--tables %s: %w", f.tables, err))
	}
	for _, k := range r.Kernels {
		if k.Arch != arch {
			continue
		}
		if file.data, err = catalog.EncodeKernels(k); err != nil {
			return "", file, usagef("--tables %s: %w", f.tables, err)
		}
		for _, t := range r.Tables {
			o.Notes = append(o.Notes, fmt.Sprintf("table %s %s, %s: %d rows held out, off by %.1f %% median, %.1f %% mean", t.GPU, t.Table, t.What, t.Rows, 100*t.Median, 100*t.Mean))
		}
		if n := len(r.Kept); n > 0 {
			o.Notes = append(o.Notes, fmt.Sprintf("--tables has no tables of %d of %d fits, which keep the catalogue's constants (%s); %s lists all", n, len(k.Fits), strings.Join(r.Kept[:min(n, 3)], ", "), filepath.Base(f.kernelsFile())))
		}
		file.name = f.kernelsFile()
		return filepath.Base(file.name), file, nil
	}
	return "", file, usagef("--tables %s: no table of the %s generation, which %s is of", f.tables, arch, o.Machine.Device.Name)
}

// kernelsFile stands beside the machine file and holds its kernels' constants.
func (f *calibrateFlags) kernelsFile() string {
	return strings.TrimSuffix(f.out, filepath.Ext(f.out)) + ".kernels.json"
}
