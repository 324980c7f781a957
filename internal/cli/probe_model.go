package cli

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/ggufwrite"
	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/unit"
)

func newProbeModelCommand(env *Env) *cobra.Command {
	var c ggufwrite.Config
	var out string
	var sizes []string
	cmd := &cobra.Command{
		Use:   "model",
		Short: "Write a GGUF file of random weights to measure an engine with",
		Long: `Write a GGUF v3 file of random weights: a step's time depends on the shapes and formats of the
weights, not on their values, so that an engine can be measured without a download. What is not
given makes about 100 M parameters (llama), or 260 M of which 110 M are active (deepseek2, with
latent attention and routed experts). Equal flags give equal files.`,
		Example: `  ridgeline probe model --arch llama --type q8_0 --out small.gguf
  ridgeline probe model --arch deepseek2 --type q4_0 --layers 8 --experts 32 --out moe.gguf`,
		Args: positional(0, 0, ""),
	}
	fs := cmd.Flags()
	fs.StringVar(&c.Architecture, "arch", "llama", "`ARCHITECTURE`: llama or deepseek2")
	fs.StringVar(&c.Type, "type", "q8_0", "`TYPE` of the matrices: f16, q8_0 or q4_0")
	fs.StringVar(&out, "out", "", "write the `FILE`, .gguf")
	for _, d := range []struct {
		into        *int
		name, usage string
	}{{&c.Hidden, "hidden", "hidden size (default 768)"}, {&c.Inner, "ffn", "inner size of the dense FFN (default 2048)"}, {&c.Layers, "layers", "layers (default 12)"},
		{&c.Heads, "heads", "query heads (default 12)"}, {&c.KVHeads, "kv-heads", "key heads of llama (default: as heads)"}, {&c.Vocab, "vocab", "words (default 8192)"},
		{&c.Experts, "experts", "routed experts of deepseek2 (default 16)"}, {&c.TopK, "top-k", "experts that a token uses (default 4)"}, {&c.ExpertInner, "expert-ffn", "inner size of an expert (default 512)"}} {
		fs.IntVar(d.into, d.name, 0, d.usage)
		sizes = append(sizes, d.name)
	}
	fs.Uint64Var(&c.Seed, "seed", 0, "of the random weights")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := required(cmd, "out"); err != nil {
			return err
		}
		for _, name := range sizes {
			if f := cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "0" {
				return usagef("--%s 0: give more than 0, or leave it out", name)
			}
		}
		if !strings.HasSuffix(strings.ToLower(out), ".gguf") {
			return usagef("--out %s: the file must end in .gguf, by which engines and --model know it", out)
		}
		if err := c.Check(); err != nil {
			return badInput(err)
		}
		if err := writeFile(out, func(w io.Writer) error { return c.Write(w) }); err != nil {
			return err
		}
		info, err := os.Stat(out)
		if err != nil {
			return err
		}
		if *asJSON {
			return report.JSON(env.Stdout, map[string]any{"file": out, "bytes": info.Size(), "architecture": c.Architecture, "type": c.Type})
		}
		return env.print(func(p *report.Page) {
			p.Line("%s: %s of random weights, %s in %s", out, unit.FormatBytes(unit.Bytes(info.Size())), c.Architecture, c.Type)
		})
	}
	return cmd
}
