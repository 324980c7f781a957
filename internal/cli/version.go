package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/report"
)

// version is set by the linker (Makefile, dist).
var version = "dev"

func newVersionCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  ridgeline version",
		Args:    positional(0, 0, ""),
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		if *asJSON {
			return report.JSON(env.Stdout, map[string]string{"version": version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
		}
		_, err := fmt.Fprintf(env.Stdout, "ridgeline %s %s/%s %s\n", version, runtime.GOOS, runtime.GOARCH, runtime.Version())
		return err
	}
	return cmd
}
