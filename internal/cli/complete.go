package cli

import (
	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/catalog"
)

// completeArg offers names for the first argument and nothing for others.
func completeArg(names func() []cobra.Completion) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeCluster offers cluster names, GPU names to be followed by x and a
// count, and files.
func completeCluster(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	for _, c := range catalog.Clusters() {
		names = append(names, cobra.CompletionWithDesc(c.Name, c.Device.Name))
	}
	for _, d := range catalog.Devices() {
		names = append(names, cobra.CompletionWithDesc(d.Name+"x", "followed by a GPU count"))
	}
	return names, cobra.ShellCompDirectiveNoSpace
}

// completeWords offers a fixed list.
func completeWords(words []string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}
