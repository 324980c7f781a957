package cli

import (
	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/report"
)

func newClustersCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "clusters [NAME|GPUxN|FILE]",
		GroupID: groupCatalogue,
		Short:   "List the known clusters, or show one: by name, GPU and count, or YAML file",
		Example: `  ridgeline clusters
  ridgeline clusters h800x2048
  ridgeline clusters deepseek-v3-h800`,
		Args:              positional(0, 1, ""),
		ValidArgsFunction: completeCluster,
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			clusters := catalog.Clusters()
			if *asJSON {
				docs := make([]*report.ClusterDoc, len(clusters))
				for i, c := range clusters {
					docs[i] = report.NewClusterDoc(c)
				}
				return report.JSON(env.Stdout, map[string]any{"clusters": docs})
			}
			return env.print(func(p *report.Page) { report.Clusters(p, clusters) })
		}
		c, err := catalog.Cluster(args[0])
		if err != nil {
			return badInput(err)
		}
		if *asJSON {
			return report.JSON(env.Stdout, report.NewClusterDoc(c))
		}
		return env.print(func(p *report.Page) { report.Cluster(p, c) })
	}
	return cmd
}
