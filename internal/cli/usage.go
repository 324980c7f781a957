package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// unknownCommand is the root's argument check: whatever is left there named no command.
func unknownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		return usagef("unknown command %q: did you mean %s?", args[0], strings.Join(near, " or "))
	}
	return usagef("unknown command %q: `%s --help` lists the commands", args[0], root.Name())
}

// flagError turns pflag's errors into one line with the mend.
func flagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		err = fmt.Errorf("unknown flag %s", dashed(unknown.GetSpecifiedName()))
	}
	return usagef("%w: see `%s --help`", err, cmd.CommandPath())
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
			return usagef("unexpected argument %q of %s: see `%s --help`", args[high], cmd.Name(), cmd.CommandPath())
		}
		return nil
	}
}

// jsonFlag adds --json to a command.
func jsonFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("json", false, "print one JSON document and nothing else")
}
