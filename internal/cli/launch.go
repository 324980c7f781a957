package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/argv"
	"github.com/ridgeline/ridgeline/internal/launch"
	"github.com/ridgeline/ridgeline/internal/report"
)

func newLaunchCommand(env *Env) *cobra.Command {
	f := &launchFlags{}
	var out string
	cmd := &cobra.Command{
		Use:     "launch",
		GroupID: groupPlan,
		Short:   "Write the commands and manifests of a plan, or read them back",
		Long: `Write what an engine and a cluster take to run a plan, checked against the engine's own flag
list: scripts, Slurm jobs, Kubernetes objects, Ray scripts or a Compose file. What the engine
cannot do is an error that names the nearest thing it can; --nearest writes that.

Degrees that --plan leaves out are 1; a training plan takes dp from --cluster, zero=1 (torchtitan: 3)
and one sequence per micro-batch. Files go to --out, or all to stdout.`,
		Example: `  ridgeline launch --engine vllm --target k8s --model deepseek-r1 --plan tp=8,dp=2,ep=16 --kv fp8 --prefix-cache off
  ridgeline launch --engine sglang --target slurm --model deepseek-r1 --plan "prefill:dp=8,ep=8,workers=2;decode:dp=16,ep=16"
  ridgeline launch --engine megatron-lm --target slurm --model deepseek-v3 --cluster h800x2048 --plan pp=16,ep=64,zero=1,recompute=selective --global-batch 16384 --seq 4096 --precision fp8
  ridgeline launch import --engine vllm -- vllm serve deepseek-ai/DeepSeek-R1 -tp 8`,
		Args: unknownCommand,
	}
	f.register(cmd)
	cmd.Flags().StringVar(&out, "out", "", "write the files to `DIR`")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().NFlag() == 0 {
			return cmd.Help()
		}
		r, err := f.request(cmd)
		if err != nil {
			return err
		}
		a, err := api.Launch(cmd.Context(), r)
		if err != nil {
			return badInput(err)
		}
		for _, w := range a.Warnings {
			fmt.Fprintf(env.Stderr, "warning: %s\n", w)
		}
		if out != "" {
			if err := writeBundle(out, a.Files); err != nil {
				return err
			}
		}
		switch {
		case *asJSON:
			return report.JSON(env.Stdout, a)
		case out != "":
			return env.print(func(p *report.Page) { report.Launch(p, a, out) })
		}
		return printFiles(env.Stdout, a.Files)
	}
	cmd.AddCommand(newLaunchImportCommand(env))
	return cmd
}

// writeBundle writes files into a folder, which is made where it is missing.
func writeBundle(dir string, files []launch.File) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return usagef("--out: %w: name a folder that can be made", err)
	}
	for _, f := range files {
		name := filepath.Join(dir, f.Name)
		if err := writeFile(name, func(w io.Writer) error {
			_, err := io.WriteString(w, f.Content)
			return err
		}); err != nil {
			return err
		}
		if f.Run {
			if err := os.Chmod(name, 0o755); err != nil {
				return err
			}
		}
	}
	return nil
}

// printFiles writes files one after the other, each under its name in a comment.
// YAML files become documents of one stream and the README a comment, so that
// manifests can be piped on.
func printFiles(w io.Writer, files []launch.File) error {
	var b strings.Builder
	for i, f := range files {
		if i > 0 {
			b.WriteByte('\n')
		}
		if strings.HasSuffix(f.Name, ".yaml") && i > 0 {
			b.WriteString("---\n")
		}
		fmt.Fprintf(&b, "# ==> %s <==\n", f.Name)
		if !strings.HasSuffix(f.Name, ".md") {
			b.WriteString(f.Content)
			continue
		}
		for line := range strings.Lines(f.Content) {
			b.WriteString(strings.TrimRight("# "+line, " \n") + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// completeEngines offers the engines that have a flag list.
func completeEngines(cmd *cobra.Command) {
	if err := cmd.RegisterFlagCompletionFunc("engine", completeWords(argv.Engines())); err != nil {
		panic(err) // a flag name mistyped above
	}
}
