package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/modelfile"
	"github.com/ridgeline/ridgeline/internal/report"
)

// defaultSeq is the sequence length of FLOPs per token where none is asked for.
const defaultSeq = 4096

// maxSeq keeps squares of a sequence length far from float64's limits.
const maxSeq = 1 << 32

func newModelsCommand(env *Env) *cobra.Command {
	var configs string
	seq := int64(defaultSeq)
	cmd := &cobra.Command{
		Use:     "models [NAME|PATH]",
		GroupID: groupCatalogue,
		Short:   "List the known models, or count one: by name, Hugging Face id or file",
		Long: `List the catalogue of models, or count one of them.

PATH is a Hugging Face config.json, a model folder or a GGUF file. An id such as
Qwen/Qwen3-8B is looked up in --configs DIR, in files named org--name_config.json, where
that is given, otherwise in the catalogue.`,
		Example: `  ridgeline models
  ridgeline models deepseek-v3 --seq 8192
  ridgeline models path/to/config.json`,
		Args:              positional(0, 1, ""),
		ValidArgsFunction: completeModel,
	}
	configsFlag(cmd, &configs)
	countFlag(cmd, &seq, "seq", "sequence length of the FLOPs per token (default 4096)")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if seq < 1 || seq > maxSeq {
			return usagef("--seq %d: give 1 to %d tokens", seq, int64(maxSeq))
		}
		if err := notEmpty(cmd, "configs"); err != nil {
			return err
		}
		if len(args) == 0 {
			if err := checkConfigs(configs); err != nil {
				return err
			}
			return listModels(env, *asJSON, seq)
		}
		m, err := findModel(args[0], configs)
		if err != nil {
			return err
		}
		entry := catalog.Entry(m)
		if *asJSON {
			return report.JSON(env.Stdout, report.NewModelDoc(m, entry, seq))
		}
		return env.print(func(p *report.Page) { report.Model(p, m, entry, seq) })
	}
	return cmd
}

func listModels(env *Env, asJSON bool, seq int64) error {
	entries := catalog.Models()
	if !asJSON {
		return env.print(func(p *report.Page) { report.Models(p, entries) })
	}
	docs := make([]*report.ModelDoc, len(entries))
	for i := range entries {
		docs[i] = report.NewModelDoc(entries[i].Model, &entries[i], seq)
	}
	return report.JSON(env.Stdout, map[string]any{"models": docs})
}

// configsFlag adds --configs, the folder in which Hugging Face ids are looked up.
func configsFlag(cmd *cobra.Command, into *string) {
	ask.Text(cmd.Flags(), into, "configs", "look up Hugging Face ids in `DIR`, in files org--name_config.json")
	_ = cmd.MarkFlagDirname("configs")
}

// checkConfigs complains about a --configs that is no folder, whether or not the
// model at hand is looked up there.
func checkConfigs(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return usagef("--configs: %w: give a folder of files org--name_config.json", err)
	case !info.IsDir():
		return usagef("--configs %s is no folder: give a folder of files org--name_config.json", dir)
	}
	return nil
}

// findModel reads what --model or an argument names: a path, an id in the
// configs folder, or a catalogue name or id. Errors are bad input.
func findModel(name, configs string) (*model.Model, error) {
	if err := checkConfigs(configs); err != nil {
		return nil, err
	}
	var m *model.Model
	var err error
	switch {
	case isPath(name):
		if m, err = modelfile.Open(name); errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: give a config.json, a model folder or a GGUF file", err)
		}
	case configs != "" && strings.Contains(name, "/"):
		m, err = modelfile.Find(name, configs)
	default:
		m, err = catalog.Model(name)
	}
	return m, badInput(err)
}

// isPath tells a path from a name: it says so by its form, or it holds a
// separator and exists. A bare word is a catalogue name even where a file of
// that name lies about.
func isPath(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json", ".gguf":
		return true
	}
	if filepath.IsAbs(name) || strings.HasPrefix(name, ".") {
		return true
	}
	_, err := os.Stat(name)
	return err == nil && strings.ContainsAny(name, `/\`)
}

// completeModel offers catalogue names; files complete too.
func completeModel(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return modelNames(), cobra.ShellCompDirectiveDefault
}

func modelNames() (names []cobra.Completion) {
	for _, e := range catalog.Models() {
		names = append(names, cobra.CompletionWithDesc(e.Model.Name, e.Model.Architecture))
	}
	return names
}
