package cli

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/prompt"
)

// config resolves names, files and the key.
func (f *benchFlags) config(cmd *cobra.Command) (*bench.Config, error) {
	err := cmp.Or(notEmpty(cmd, "url", "model", "name", "db", "api-key-file", "api-key-env", "tokenizer", "dataset"), runName("name", f.kept.name),
		checkOutputs(cmd, benchFiles, f.tokenizer, f.dataset, f.keyFile, cmd.Flag("trace").Value.String()))
	if err != nil {
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
