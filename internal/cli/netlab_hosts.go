package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/netlab"
)

func newHostsCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hosts",
		Short: "Make two hosts of this machine: network namespaces with a link between",
		Long: fmt.Sprintf(`Make two network namespaces with a pair of interfaces between them, %s (host a) and %s
(host b), and run commands on either. Delays are the kernel's netem where it has it, a rate alone
is its token bucket. Linux and root.`, netlab.AddressA, netlab.AddressB),
		Example: `  ridgeline netlab hosts up --rate 1Gb/s
  ridgeline netlab hosts run b -- ridgeline emulate --listen 198.18.0.2:8000 --model llama-3.1-8b --cluster h100x1 --plan tp=1
  ridgeline netlab hosts down`,
		Args: positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newHostsUpCommand(env), newHostsDownCommand(env), newHostsRunCommand(env))
	return cmd
}

// nameFlag names the pair of hosts.
func nameFlag(cmd *cobra.Command, into *string) {
	cmd.Flags().StringVar(into, "name", "rl", "`NAME` of the pair: its hosts are NAME-a and NAME-b")
}

func newHostsUpCommand(env *Env) *cobra.Command {
	f := &netlabFlags{}
	var h netlab.Hosts
	cmd := &cobra.Command{
		Use:     "up",
		Short:   "Make the two hosts",
		Example: `  ridgeline netlab hosts up --delay 0.5ms --rate 10Gb/s`,
		Args:    positional(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if h.Link, err = f.link(); err != nil {
				return err
			}
			if err := h.Up(); err != nil {
				return hostsError(err)
			}
			fmt.Fprintf(env.Stdout, "hosts %s-a (%s) and %s-b (%s) are up\n", h.Name, netlab.AddressA, h.Name, netlab.AddressB)
			return nil
		},
	}
	nameFlag(cmd, &h.Name)
	f.register(cmd)
	return cmd
}

func newHostsDownCommand(*Env) *cobra.Command {
	var h netlab.Hosts
	cmd := &cobra.Command{
		Use:     "down",
		Short:   "Remove the two hosts",
		Example: `  ridgeline netlab hosts down`,
		Args:    positional(0, 0, ""),
		RunE:    func(*cobra.Command, []string) error { return hostsError(h.Down()) },
	}
	nameFlag(cmd, &h.Name)
	return cmd
}

// patience is how long a command may take to end after an interrupt.
const patience = 10 * time.Second

func newHostsRunCommand(env *Env) *cobra.Command {
	var h netlab.Hosts
	cmd := &cobra.Command{
		Use:               "run HOST -- COMMAND [ARGS]",
		Short:             "Run a command on host a or b",
		Example:           `  ridgeline netlab hosts run a -- curl http://198.18.0.2:8000/health`,
		Args:              positional(2, 1<<20, "HOST, a or b, and a command after --"),
		ValidArgsFunction: completeArg(func() []cobra.Completion { return []cobra.Completion{"a", "b"} }),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "a" && args[0] != "b" {
				return usagef("host %q: the two are a and b", args[0])
			}
			c := exec.CommandContext(cmd.Context(), args[1], args[2:]...)
			c.Stdin, c.Stdout, c.Stderr = env.Stdin, env.Stdout, env.Stderr
			c.Cancel, c.WaitDelay = func() error { return c.Process.Signal(os.Interrupt) }, patience
			err := h.Run(args[0], c)
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return &exitError{exitFailed, fmt.Errorf("%s: %w", args[1], err)}
			}
			return hostsError(err)
		},
	}
	nameFlag(cmd, &h.Name)
	return cmd
}
