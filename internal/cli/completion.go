package cli

import (
	"github.com/spf13/cobra"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletionCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a completion script for bash, zsh, fish or powershell",
		Long: `Print the script that makes a shell complete Ridgeline's commands, flags, and the
names of models, GPUs and schedules.`,
		Example: `  source <(ridgeline completion bash)
  ridgeline completion zsh > "${fpath[1]}/_ridgeline"
  ridgeline completion fish > ~/.config/fish/completions/ridgeline.fish
  ridgeline completion powershell | Out-String | Invoke-Expression`,
		Args:      positional(1, 1, "SHELL, one of bash, zsh, fish, powershell"),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(env.Stdout, true)
			case "zsh":
				return root.GenZshCompletion(env.Stdout)
			case "fish":
				return root.GenFishCompletion(env.Stdout, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(env.Stdout)
			}
			return unknownWord("shell", args[0], shells, "use bash, zsh, fish or powershell")
		},
	}
}
