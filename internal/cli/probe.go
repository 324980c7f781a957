package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/input"
	"github.com/ridgeline/ridgeline/internal/probe"
	"github.com/ridgeline/ridgeline/internal/record"
	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/tools"
	"github.com/ridgeline/ridgeline/internal/unit"
)

func newProbeCommand(env *Env) *cobra.Command {
	cmd := newProbeCPUCommand(env)
	cmd.Use = "probe"
	cmd.GroupID = groupMeasure
	cmd.Short = "Measure this machine, or read what measuring tools printed"
	cmd.Long = `Measure this machine and write a record that ` + "`ridgeline calibrate`" + ` makes a machine file of.
Without a subcommand the CPU is measured by number of threads: memory bandwidth (read, triad), FP32
matrix products, and weights of FP16, q8_0 and q4_0 times one vector by working set, which shows
what the caches hold. gpu measures NVIDIA GPUs, tcp the way to another
host, and read makes a record of the output of nccl-tests, nvbandwidth, perftest, nvidia-smi, dcgmi,
llama-bench and training logs.

Rates are of the CPU time of the probe's own threads where the system tells it; "share" is
the part of the wall time that they ran. An interrupt keeps what was measured.`
	cmd.Example = `  ridgeline probe --threads 1,2,4 --out cpu.json
  ridgeline probe gpu --out gpu.json
  ridgeline probe tcp --to node-b:9871
  ridgeline probe read all_reduce_perf.txt`
	cmd.Args = unknownCommand
	cmd.AddCommand(newProbeTCPCommand(env), newProbeGPUCommand(env), newProbeReadCommand(env), newProbeModelCommand(env))
	return cmd
}

// kept is where a record goes: stdout as text or JSON, and a file.
type kept struct {
	out    string
	asJSON *bool
	store  keepFlags
}

func (k *kept) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&k.out, "out", "", "write the record to `FILE` too, for calibrate")
	k.asJSON = jsonFlag(cmd)
	k.store.register(cmd)
}

// check tells before a measurement what would keep its record from being kept.
func (k *kept) check() error {
	return writable("out", k.out)
}

// write writes the record; one that was cut short is written all the same and fails.
func (k *kept) write(cmd *cobra.Command, env *Env, rec *record.Record) error {
	if len(rec.Results) == 0 {
		return errors.New("interrupted before the first measurement was done")
	}
	if k.out != "" {
		if err := writeFile(k.out, func(w io.Writer) error { return report.JSON(w, rec) }); err != nil {
			return err
		}
	}
	err := k.store.answer(cmd, env, rec)
	if err != nil {
		return err
	}
	if *k.asJSON {
		err = report.JSON(env.Stdout, rec)
	} else {
		err = env.print(func(p *report.Page) { report.Record(p, rec) })
	}
	if err == nil && rec.Partial {
		err = fmt.Errorf("interrupted: %s kept", report.Plural(int64(len(rec.Results)), "measurement"))
	}
	return err
}

func newProbeCPUCommand(env *Env) *cobra.Command {
	var c probe.CPU
	var k kept
	var size, repeats int64
	cmd := &cobra.Command{Use: "cpu"}
	cmd.Flags().Var(ask.Quantity(&c.Threads, ask.Concurrencies, "LIST", ""), "threads", "thread counts to measure, such as 1,2,4 (default: 1, doubling up to all cores)")
	cmd.Flags().Var(ask.Quantity((*unit.Bytes)(&c.Bytes), unit.ParseBytes, "SIZE", "256MiB"), "array", "size of each of the three arrays and of the largest working set, all threads together; four times the last-level cache where memory allows")
	countFlag(cmd, &size, "size", "M = N = K of the matrix products (default 1024)")
	countFlag(cmd, &repeats, "repeats", "of each measurement (default 7)")
	k.register(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := notZero(cmd, "threads", "array", "size", "repeats"); err != nil {
			return err
		}
		if size > 1<<20 || repeats > 1<<20 {
			return usagef("--size %d, --repeats %d: too large to finish", size, repeats)
		}
		c.Size, c.Repeats = int(size), int(repeats)
		if err := c.Check(); err != nil {
			return badInput(err)
		}
		if err := k.check(); err != nil {
			return err
		}
		rec := probe.New("ridgeline "+version, commandLine(cmd))
		bar := newProgress(env.Stderr)
		bar.doing, c.Done = "measuring", bar.update
		err := c.Run(cmd.Context(), rec)
		bar.clear()
		if err != nil {
			return err
		}
		return k.write(cmd, env, rec)
	}
	return cmd
}

func newProbeTCPCommand(env *Env) *cobra.Command {
	var t probe.TCP
	var k kept
	var listen string
	var streams, repeats int64
	cmd := &cobra.Command{
		Use:   "tcp",
		Short: "Measure round trip and bandwidth over TCP to another host",
		Long: `Measure round trip (64 bytes) and bandwidth in both directions over TCP. One host listens until
it is interrupted, the other measures. Whoever reaches the port can make the listener send:
listen on an address of the cluster's own network.`,
		Example: `  ridgeline probe tcp --listen 10.0.0.2:9871
  ridgeline probe tcp --to 10.0.0.2:9871 --streams 8 --out tcp.json`,
		Args: positional(0, 0, ""),
	}
	cmd.Flags().StringVar(&listen, "listen", "", "answer probes on `HOST:PORT`")
	cmd.Flags().StringVar(&t.To, "to", "", "measure to `HOST:PORT`")
	countFlag(cmd, &streams, "streams", "connections at once (default 1)")
	countFlag(cmd, &repeats, "repeats", "of each measurement (default 5)")
	k.register(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := notZero(cmd, "streams", "repeats"); err != nil {
			return err
		}
		switch {
		case (listen == "") == (t.To == ""):
			return usagef("probe tcp needs --listen or --to: see `ridgeline probe tcp --help`")
		case streams > 1024 || repeats > 1000:
			return usagef("--streams %d, --repeats %d: give at most 1024 and 1000", streams, repeats)
		case listen != "":
			return listenTCP(cmd.Context(), env, listen)
		}
		if err := hostPort("to", t.To); err != nil {
			return err
		}
		t.Streams, t.Repeats = int(streams), int(repeats)
		if err := k.check(); err != nil {
			return err
		}
		rec := probe.New("ridgeline "+version, commandLine(cmd))
		bar := newProgress(env.Stderr)
		bar.doing, t.Done = "measuring", bar.update
		err := t.Run(cmd.Context(), rec)
		bar.clear()
		if err != nil {
			return err
		}
		return k.write(cmd, env, rec)
	}
	return cmd
}

func listenTCP(ctx context.Context, env *Env, address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return usagef("--listen %s: %w: give an address of this machine and a free port", address, err)
	}
	fmt.Fprintf(env.Stderr, "answering probes on %s until interrupted\n", l.Addr())
	return probe.ServeTCP(ctx, l)
}

func newProbeReadCommand(env *Env) *cobra.Command {
	var k kept
	cmd := &cobra.Command{
		Use:   "read FILE",
		Short: "Make a record of a measuring tool's output",
		Long: `Read the output of ridgeline probe, nccl-tests, nvbandwidth (text or JSON), perftest, nvidia-smi
(--query-gpu with --format=csv), dcgmi dmon, llama-bench (JSON, CSV or Markdown), Megatron-LM,
torchtitan or NeMo, and print it in SI units. The tool is told from the text.`,
		Example: "  ridgeline probe read ib_write_bw.txt --json",
		Args:    positional(1, 1, "a file"),
	}
	k.register(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		rec, err := readRecord(args[0])
		if err != nil {
			return err
		}
		return k.write(cmd, env, rec)
	}
	return cmd
}

// readRecord reads any tool's output.
func readRecord(name string) (*record.Record, error) {
	f, err := input.Open(name)
	if err != nil {
		return nil, usagef("%w: give the output of a measuring tool", err)
	}
	defer f.Close()
	rec, err := tools.Read(f, name)
	return rec, badInput(err)
}
