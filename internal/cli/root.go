package cli

import (
	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/ask"
)

// The groups of the root's help.
const (
	groupPlan      = "plan"
	groupMeasure   = "measure"
	groupCatalogue = "catalogue"
)

// commands lists every subcommand.
var commands = []func(*Env) *cobra.Command{
	newTrainCommand,
	newInferCommand,
	newSimulateCommand,
	newExplainCommand,
	newValidateCommand,
	newLaunchCommand,
	newProbeCommand,
	newCalibrateCommand,
	newScheduleCommand,
	newBenchCommand,
	newEmulateCommand,
	newNetlabCommand,
	newRunsCommand,
	newWebCommand,
	newModelsCommand,
	newGPUsCommand,
	newClustersCommand,
	newVersionCommand,
	newCompletionCommand,
}

const rootLong = `Ridgeline says how fast a plan to train or serve a large language model can go on a
cluster, what stops it from going faster, and which plan is best, before it is built.

Exit codes: 0 done, 1 failed, 2 bad usage or input (one line on stderr names the input
and the mend), 3 nothing feasible, 4 an asked-for threshold was missed.`

// newRoot builds the command tree anew, so that runs share no state.
func newRoot(env *Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "ridgeline",
		Short: "Predict, explain and rank plans for training and serving large language models",
		Long:  rootLong,
		Example: `  ridgeline train --model deepseek-v3 --cluster h800x2048 --global-batch 15360 --seq 4096 --precision fp8
  ridgeline infer --model deepseek-r1 --cluster h200x64 --isl 1024 --osl 1024 --slo ttft=2s,tpot=50ms
  ridgeline schedule dualpipe --stages 8 --microbatches 20`,
		Version:       version,
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelpCommand())
	root.SetVersionTemplate("ridgeline {{.Version}}\n")
	root.AddGroup(&cobra.Group{ID: groupPlan, Title: "Plans:"}, &cobra.Group{ID: groupMeasure, Title: "Measurements:"}, &cobra.Group{ID: groupCatalogue, Title: "Catalogues:"})
	for _, construct := range commands {
		root.AddCommand(construct(env))
	}
	once(root)
	return root
}

// once makes the flags of a command and of those below it refuse a second value.
func once(cmd *cobra.Command) {
	ask.Once(cmd.Flags())
	for _, c := range cmd.Commands() {
		once(c)
	}
}

// newHelpCommand replaces cobra's, which answers an unknown topic with exit 0.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Help about a command",
		Example: "  ridgeline help schedule",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			var names []cobra.Completion
			for _, c := range cmd.Root().Commands() {
				if c.IsAvailableCommand() && len(args) == 0 {
					names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmd.Root(), args)
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
}
