package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ridgeline/ridgeline/internal/ask"
)

// unknownCommand is the argument check of a command that only holds others:
// whatever is left there named none of them.
func unknownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return unknownWord("command", args[0], names, fmt.Sprintf("`%s --help` lists the commands", root.CommandPath()))
}

// flagError turns pflag's errors into one line with the mend.
func flagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		return unknownWord("flag", dashed(unknown.GetSpecifiedName()), names, fmt.Sprintf("see `%s --help`", cmd.CommandPath()))
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		f := invalid.GetFlag()
		var plain *strconv.NumError // of pflag's own types, which name Go functions and no mend
		if errors.As(err, &plain) {
			return usagef("--%s: %q is not of type %s: see `%s --help`", f.Name, invalid.GetValue(), f.Value.Type(), cmd.CommandPath())
		}
		return usagef("--%s: %w", f.Name, errors.Unwrap(invalid))
	}
	return usagef("%w: see `%s --help`", err, cmd.CommandPath())
}

// unknownWord is the error about a word that is none of names: the nearest ones,
// or the mend where nothing is near.
func unknownWord(kind, word string, names []string, mend string) error {
	return badInput(ask.UnknownWord(kind, word, names, mend))
}

func dashed(flag string) string {
	if len(flag) == 1 {
		return "-" + flag
	}
	return "--" + flag
}

// positional checks the number of arguments; what names them in the message.
func positional(low, high int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < low:
			return usagef("%s needs %s: see `%s --help`", cmd.Name(), what, cmd.CommandPath())
		case len(args) > high:
			cmd.SuggestionsMinimumDistance = 2
			if near := cmd.SuggestionsFor(args[high]); len(near) > 0 {
				return usagef("unexpected argument %q of %s: did you mean %s?", args[high], cmd.Name(), strings.Join(near, " or "))
			}
			return usagef("unexpected argument %q of %s: see `%s --help`", args[high], cmd.Name(), cmd.CommandPath())
		}
		return nil
	}
}

// jsonFlag adds --json to a command.
func jsonFlag(cmd *cobra.Command) *bool {
	on := new(bool)
	ask.Switch(cmd.Flags(), on, "json", "print one JSON document and nothing else")
	return on
}
