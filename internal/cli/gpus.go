package cli

import (
	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/report"
)

func newGPUsCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "gpus [NAME]",
		GroupID: groupCatalogue,
		Short:   "List the accelerators, or show one: peak beside achieved, with sources",
		Example: `  ridgeline gpus
  ridgeline gpus h800`,
		Args:              positional(0, 1, ""),
		ValidArgsFunction: completeArg(gpuNames),
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			devices := catalog.Devices()
			if *asJSON {
				docs := make([]*report.DeviceDoc, len(devices))
				for i, d := range devices {
					docs[i] = report.NewDeviceDoc(d)
				}
				return report.JSON(env.Stdout, map[string]any{"gpus": docs})
			}
			return env.print(func(p *report.Page) { report.Devices(p, devices) })
		}
		d, err := catalog.Device(args[0])
		if err != nil {
			return badInput(err)
		}
		if *asJSON {
			return report.JSON(env.Stdout, report.NewDeviceDoc(d))
		}
		return env.print(func(p *report.Page) { report.Device(p, d) })
	}
	return cmd
}

func gpuNames() (names []cobra.Completion) {
	for _, d := range catalog.Devices() {
		names = append(names, cobra.CompletionWithDesc(d.Name, d.Vendor+" "+d.Arch))
	}
	return names
}
