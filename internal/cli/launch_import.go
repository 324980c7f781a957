package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/argv"
	"github.com/ridgeline/ridgeline/internal/input"
	"github.com/ridgeline/ridgeline/internal/report"
)

// maxManifest bounds a script, manifest or configuration file.
const maxManifest = 8 << 20

func newLaunchImportCommand(env *Env) *cobra.Command {
	var engine, config string
	f := &todayFlags{}
	cmd := &cobra.Command{
		Use:   "import --engine E [FILE | - | -- ARGV...]",
		Short: "Read a running configuration back into a plan",
		Long: `Read a command line, a shell or Slurm script, a Kubernetes or Compose manifest or an engine's
configuration file (- reads stdin), and say its degrees as the engine's flags state them, and as
a plan that train and infer take. Nothing of it is run. Flags that the engine's list does not
know, or that are deprecated, are named.

With --cluster, say what it gives there and what would give more: of a service under --isl,
--osl and --concurrency, of a training run with its own batch.`,
		Example: `  ridgeline launch import --engine vllm -- vllm serve deepseek-ai/DeepSeek-R1 -tp 8 -dp 2 -ep
  ridgeline launch import --engine sglang lws.yaml
  kubectl get leaderworkerset r1 -o yaml | ridgeline launch import --engine vllm -
  ridgeline launch import --engine vllm lws.yaml --cluster h200x16 --isl 1024 --osl 1024 --concurrency 64
  ridgeline launch import --engine trtllm --config-file extra.yaml -- trtllm-serve deepseek-ai/DeepSeek-R1`,
	}
	cmd.Flags().StringVar(&engine, "engine", "", "`ENGINE`: "+strings.Join(argv.Engines(), ", "))
	cmd.Flags().StringVar(&config, "config-file", "", "`FILE` that the command passes with --config or --extra_llm_api_options")
	f.register(cmd)
	asJSON := jsonFlag(cmd)
	if err := cmd.RegisterFlagCompletionFunc("engine", completeWords(argv.Engines())); err != nil {
		panic(err) // a flag name mistyped above
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := importRequest(cmd, env.Stdin, engine, config, args)
		if err != nil {
			return err
		}
		im, err := api.Import(r)
		if err != nil {
			return badInput(err)
		}
		for _, w := range im.Warnings {
			fmt.Fprintf(env.Stderr, "warning: %s\n", w)
		}
		today, err := f.ask(cmd, env, im)
		if err != nil {
			return err
		}
		if *asJSON {
			err = report.JSON(env.Stdout, report.NewImportDoc(im, today))
		} else {
			err = env.print(func(p *report.Page) { report.Import(p, im, today) })
		}
		if err != nil {
			return err
		}
		return todayFits(today)
	}
	return cmd
}

// importRequest reads the files that the user names.
func importRequest(cmd *cobra.Command, stdin io.Reader, engine, config string, args []string) (*api.ImportRequest, error) {
	if err := required(cmd, "engine"); err != nil {
		return nil, err
	}
	if _, err := argv.Load(engine, ""); err != nil {
		return nil, unknownWord("engine", engine, argv.Engines(), "use one of "+strings.Join(argv.Engines(), ", "))
	}
	r := &api.ImportRequest{Engine: engine}
	var err error
	if config != "" {
		r.ConfigName = config
		if r.Config, err = readText(config); err != nil {
			return nil, err
		}
	}
	switch dash := cmd.ArgsLenAtDash(); {
	case dash == 0 && len(args) == 1 && strings.ContainsAny(args[0], " \n"): // a whole command in quotes
		r.Name, r.Text = "command", []byte(args[0])
	case dash == 0 && len(args) > 0:
		r.Words = args
	case dash > 0:
		return nil, usagef("import takes a file or words after --, not both: leave %q out", args[0])
	case len(args) == 1 && args[0] == "-":
		r.Name = "stdin"
		r.Text, err = readAll(r.Name, stdin)
	case len(args) == 1:
		r.Name = args[0]
		r.Text, err = readText(args[0])
	case len(args) > 1:
		return nil, usagef("unexpected argument %q of import: give one file, or a command after --", args[1])
	default:
		return nil, usagef("import needs a file, or a command after --: see `%s --help`", cmd.CommandPath())
	}
	return r, err
}

// readText reads a file that the user names.
func readText(name string) ([]byte, error) {
	f, err := input.Open(name)
	if err != nil {
		return nil, badInput(err)
	}
	defer f.Close()
	return readAll(name, f)
}

// readAll reads bounded text.
func readAll(name string, in io.Reader) ([]byte, error) {
	text, err := input.Text(in, maxManifest)
	if err != nil {
		return nil, usagef("%s: %w", name, err)
	}
	b, err := io.ReadAll(text)
	if err != nil {
		return nil, usagef("%s: %w", name, err)
	}
	return b, nil
}
