package cli

import "github.com/spf13/cobra"

func newLaunchCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "launch",
		GroupID: groupPlan,
		Short:   "Write the commands and manifests of a plan, or read them back",
		Example: "  ridgeline launch import --engine vllm -- vllm serve deepseek-ai/DeepSeek-R1 -tp 8",
		Args:    unknownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLaunchImportCommand(env))
	return cmd
}
