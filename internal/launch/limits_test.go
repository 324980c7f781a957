package launch

import (
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// TestLimitsMeanTheSame: --max-sequences is an instance's and --batch-tokens a replica's,
// whatever the engine's own flags count; and what was written reads back as the same.
func TestLimitsMeanTheSame(t *testing.T) {
	for _, c := range []struct{ engine, plan, sequences, tokens string }{
		{argv.VLLM, "dp=16,ep=16", "--max-num-seqs 4 ", "--max-num-batched-tokens 2048 "},
		{argv.VLLM, "tp=8", "--max-num-seqs 64 ", "--max-num-batched-tokens 2048"},
		{argv.SGLang, "dp=16,ep=16", "--max-running-requests 64 ", "--chunked-prefill-size 32768 "},
		{argv.SGLang, "tp=8", "--max-running-requests 64 ", "--chunked-prefill-size 2048"},
		{argv.TRTLLM, "dp=8,ep=8", "--max_batch_size 8 ", "--max_num_tokens 2048"},
	} {
		r := ask(t, c.engine, Shell, "deepseek-r1", c.plan)
		r.Serve.MaxSequences, r.Serve.BatchTokens = 64, 2048
		b, err := Build(r)
		if err != nil {
			t.Fatal(err)
		}
		script := strings.Join(strings.Fields(strings.ReplaceAll(b.Files[0].Content, "\\\n", "")), " ") + " "
		if !strings.Contains(script, c.sequences) || !strings.Contains(script, c.tokens) {
			t.Errorf("%s %s: want %q and %q in %s", c.engine, c.plan, c.sequences, c.tokens, script)
		}
		im, err := ImportFile(c.engine, "x.sh", []byte(b.Files[0].Content), nil)
		if err != nil {
			t.Fatal(err)
		}
		if a := im.Asked(); a.Sequences != 64 || a.StepTokens != 2048 {
			t.Errorf("%s %s reads back as %d sequences and %d tokens", c.engine, c.plan, a.Sequences, a.StepTokens)
		}
	}
}

// TestAsked: what a command says beside its degrees, as infer takes it.
func TestAsked(t *testing.T) {
	for _, c := range []struct{ engine, command, flags, left string }{
		{argv.VLLM, `vllm serve m --kv-cache-dtype fp8_e4m3 --max-num-seqs 8 -dp 2 --speculative-config {"method":"mtp","num_speculative_tokens":1}`,
			"--kv fp8 --spec mtp:1 --max-sequences 16", ""},
		{argv.SGLang, "python3 -m sglang.launch_server --model-path m --tp 16 --dp 16 --enable-dp-attention --chunked-prefill-size 32768 --speculative-algorithm EAGLE --speculative-num-steps 3",
			"--spec mtp:3 --batch-tokens 2048", ""},
		{argv.VLLM, `vllm serve m --quantization awq --speculative-config {"method":"ngram","num_speculative_tokens":4}`, "", "quantisation"},
		{argv.VLLM, "vllm serve m --quantization fp8 --enable-dbo", "--weights fp8 --overlap two-batch", ""},
		{argv.LlamaCPP, "llama-server -m x.gguf --parallel 4 --batch-size 512 --cache-type-k q8_0", "--kv int8 --max-sequences 4", ""},
	} {
		im, err := ImportWords(c.engine, Command{Words: strings.Fields(c.command)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		a := im.Asked()
		if got := strings.Join(a.Flags(), " "); got != c.flags || c.left == "" != (len(a.Left) == 0) || !strings.Contains(strings.Join(a.Left, " "), c.left) {
			t.Errorf("%s: %q and %q, want %q and %q", c.command, got, a.Left, c.flags, c.left)
		}
	}
}
