package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/ask"
)

// countFlag adds a flag that reads a whole number such as 15360 or 14.8T.
func countFlag(cmd *cobra.Command, into *int64, name, usage string) {
	ask.Count(cmd.Flags(), into, name, usage)
}

// required complains about the first of the named flags that was not given.
func required(cmd *cobra.Command, names ...string) error {
	return asked(cmd, ask.Required(cmd.Flags(), names...))
}

// notEmpty complains about the first of the named flags that was given without a
// text; a command need not have them all.
func notEmpty(cmd *cobra.Command, names ...string) error {
	return badInput(ask.NotEmpty(cmd.Flags(), names...))
}

// notZero complains about the first of the named quantities that was given as 0
// where 0 means nothing. Whoever leaves a flag out gets its default.
func notZero(cmd *cobra.Command, names ...string) error {
	return badInput(ask.NotZero(cmd.Flags(), names...))
}

// asked is the error of a question that cmd put: bad input.
func asked(cmd *cobra.Command, err error) error {
	var missing *ask.MissingError
	if errors.As(err, &missing) {
		return usagef("%s needs --%s: see `%s --help`", cmd.Name(), missing.Flag, cmd.CommandPath())
	}
	return badInput(err)
}

// completions offers values of flags; a name that the command lacks is a defect.
func completions(cmd *cobra.Command, by map[string]cobra.CompletionFunc) {
	for name, complete := range by {
		if err := cmd.RegisterFlagCompletionFunc(name, complete); err != nil {
			panic(err) // a flag name mistyped by the caller
		}
	}
}
