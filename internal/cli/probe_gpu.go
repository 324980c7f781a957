package cli

import (
	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/probe"
	"github.com/ridgeline/ridgeline/internal/unit"
)

func newProbeGPUCommand(env *Env) *cobra.Command {
	var g probe.GPU
	var k kept
	var size, repeats int64
	cmd := &cobra.Command{
		Use:   "gpu",
		Short: "Measure the NVIDIA GPUs of this machine",
		Long: `Measure every NVIDIA GPU of this machine through the libraries that are installed, loaded at run
time: matrix products by cuBLAS (FP32, TF32, BF16, FP16; zeros and random data, checked against the
CPU), copies inside a GPU, to and from the host and between GPUs, and NCCL collectives by size, with
the SM clock and the power meanwhile. A library that is missing costs its measurements, and the
record says so. FP8 (E4M3, on Ada, Hopper and later) goes
through cuBLASLt with and without fast accumulation; long calls go through libffi.`,
		Example: "  ridgeline probe gpu --out gpu.json",
		Args:    positional(0, 0, ""),
	}
	countFlag(cmd, &size, "size", "M = N = K of the matrix products (default 8192)")
	cmd.Flags().Var(ask.Quantity((*unit.Bytes)(&g.Bytes), unit.ParseBytes, "SIZE", "256MiB"), "copy", "size of copies and of the largest collective")
	countFlag(cmd, &repeats, "repeats", "of each measurement (default 7)")
	k.register(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := notZero(cmd, "size", "copy", "repeats"); err != nil {
			return err
		}
		if size > 1<<20 || repeats > 1<<20 {
			return usagef("--size %d, --repeats %d: too large to finish", size, repeats)
		}
		g.Size, g.Repeats = int(size), int(repeats)
		if err := g.Check(); err != nil {
			return badInput(err)
		}
		if err := k.check(); err != nil {
			return err
		}
		rec := probe.New("ridgeline "+version, commandLine(cmd))
		bar := newProgress(env.Stderr)
		bar.doing, g.Done = "measuring", bar.update
		err := g.Run(cmd.Context(), rec)
		bar.clear()
		if err != nil {
			return err
		}
		return k.write(cmd, env, rec)
	}
	return cmd
}
