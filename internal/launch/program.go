package launch

import (
	"path"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// program is an engine's command found among words.
type program struct {
	before []string // launcher, assignments and the program's own words
	sub    string   // subcommand, "" for the usual one
	args   []string
}

// routes tells whether a command of TensorRT-LLM stands before workers and holds no degrees.
func (p *program) routes() bool {
	return p.sub == "disaggregated" || p.sub == "disaggregated_mpi_worker"
}

// starts lists the words that begin an engine's arguments; the first word is
// compared by its base name.
var starts = map[string][][]string{
	argv.VLLM:       {{"vllm", "serve"}, {"-m", "vllm.entrypoints.openai.api_server"}, {"-m", "vllm.entrypoints.cli.main", "serve"}, {"api_server.py"}},
	argv.SGLang:     {{"-m", "sglang.launch_server"}, {"sglang", "serve"}, {"launch_server.py"}},
	argv.TRTLLM:     {{"trtllm-serve", "serve"}, {"trtllm-serve", "disaggregated_mpi_worker"}, {"trtllm-serve", "disaggregated"}, {"trtllm-serve"}},
	argv.LlamaCPP:   {{"llama-server"}},
	argv.TorchTitan: {{"-m", "torchtitan.train"}, {"train.py"}, {"run_train.sh"}},
}

// findProgram looks for an engine's command among words. Words that begin with a
// flag are arguments alone.
func findProgram(engine string, words []string) (program, bool) {
	for i := range words {
		if n, sub := programAt(engine, words[i:]); n > 0 {
			return program{words[:i+n], sub, words[i+n:]}, true
		}
	}
	for i := range words { // an image whose entrypoint is the engine
		if entersInto(engine, words[i]) {
			return program{words[:i+1], "", words[i+1:]}, true
		}
	}
	if len(words) > 0 && (strings.HasPrefix(words[0], "-") || engine == argv.MegatronBridge && strings.Contains(words[0], "=")) {
		return program{args: words}, true
	}
	return program{}, false
}

// entersInto tells whether a word names an image of the engine's project that starts the
// server by itself, so that what follows are its arguments.
func entersInto(engine, word string) bool {
	name, tag, _ := strings.Cut(path.Base(word), ":")
	name, _, _ = strings.Cut(name, "@")
	switch engine {
	case argv.VLLM:
		return name == "vllm-openai"
	case argv.LlamaCPP:
		return name == "llama.cpp" && strings.HasPrefix(tag, "server")
	}
	return false
}

// programAt tells how many words at the start of words name the engine.
func programAt(engine string, words []string) (n int, sub string) {
	if engine == argv.MegatronLM || engine == argv.MegatronBridge {
		if base := path.Base(words[0]); strings.HasSuffix(base, ".py") && !strings.HasPrefix(base, "-") {
			return 1, ""
		}
		return 0, ""
	}
	for _, s := range starts[engine] {
		if len(words) < len(s) || path.Base(words[0]) != s[0] || !slices.Equal(words[1:len(s)], s[1:]) {
			continue
		}
		if engine == argv.TRTLLM && len(s) == 2 {
			sub = s[1]
		}
		return len(s), sub
	}
	return 0, ""
}

// torchrun reads the world that a launcher before the program states: processes
// per node and nodes, 0 where it does not say.
func torchrun(before []string) (perNode, nodes int) {
	for i, w := range before {
		name, value, given := strings.Cut(strings.ReplaceAll(w, "_", "-"), "=")
		if !given && i+1 < len(before) {
			value = before[i+1]
		}
		switch name {
		case "--nproc-per-node":
			perNode = whole(value)
		case "--nnodes":
			nodes = whole(value)
		}
	}
	if perNode > 0 && nodes == 0 && !slices.ContainsFunc(before, func(w string) bool { return strings.HasPrefix(w, "--nnodes") }) {
		nodes = 1
	}
	return perNode, nodes
}
