package cli

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/validate"
)

// profileFlags are those that a refit of engine profiles takes.
var profileFlags = []string{"engine-profiles", "serving-runs", "configs", "serving-source", "json"}

// check refuses, before anything is read or fitted, what cannot be written and what nothing would read.
func (f *calibrateFlags) check(cmd *cobra.Command, args []string) error {
	inputs := append(slices.Clone(args), f.serving.runs)
	for _, text := range slices.Concat(f.runs, f.training.logs, f.bench.files) {
		_, file, _ := strings.Cut(text, "=")
		inputs = append(inputs, file)
	}
	if catalog.IsFile(f.cluster) { // else a catalogue's name
		inputs = append(inputs, f.cluster)
	}
	if f.serving.profiles != "" {
		return f.checkProfiles(cmd, args, inputs)
	}
	if err := required(cmd, "out"); err != nil {
		return err
	}
	if err := notZero(cmd, "threads"); err != nil {
		return err
	}
	if !catalog.IsFile(f.out) {
		return usagef("--out %s: the file must end in .yaml, by which --cluster knows it", f.out)
	}
	if err := f.used(cmd); err != nil {
		return err
	}
	if f.tables != "" {
		if _, _, err := validate.OperatorTables(f.tables); err != nil {
			return usagef("--tables: %w", err)
		}
		if err := cmp.Or(writable("out", f.kernelsFile()), notOver("out", f.kernelsFile(), inputs...)); err != nil {
			return err
		}
	}
	return cmp.Or(notOver("out", f.out, inputs...), writable("out", f.out))
}

// checkProfiles is check of a refit of engine profiles, which makes no machine.
func (f *calibrateFlags) checkProfiles(cmd *cobra.Command, args, inputs []string) error {
	if len(args) > 0 {
		return usagef("--engine-profiles makes no machine of %s: calibrate it in another call, without --engine-profiles", args[0])
	}
	var other string
	cmd.Flags().Visit(func(x *pflag.Flag) {
		if other == "" && !slices.Contains(profileFlags, x.Name) {
			other = x.Name
		}
	})
	if other != "" {
		return usagef("--engine-profiles makes no machine, and --%s is of one: give it in another call, without --engine-profiles", other)
	}
	if strings.ToLower(filepath.Ext(f.serving.profiles)) != ".json" {
		return usagef("--engine-profiles %s: the file must end in .json", f.serving.profiles)
	}
	return cmp.Or(notOver("engine-profiles", f.serving.profiles, inputs...), writable("engine-profiles", f.serving.profiles))
}

// used refuses flags that say something of measurements which are not given.
func (f *calibrateFlags) used(cmd *cobra.Command) error {
	switch {
	case cmd.Flags().Changed("engine") && len(f.runs)+len(f.bench.files) == 0:
		return usagef("--engine is of --run and --bench: give one of them")
	case cmd.Flags().Changed("threads") && f.cluster != "" && len(f.runs) == 0 && len(cmd.Flags().Args()) == 0:
		return usagef("--threads is of records and steps of a CPU: give records, or --run")
	case cmd.Flags().Changed("name") && f.name == "":
		return usagef("--name is empty: name the machine, or leave it out")
	}
	return nil
}
