package argv

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// names are the files of the public lists that each engine's list was made from.
var names = map[string]string{VLLM: "vllm", SGLang: "sglang", TRTLLM: "trtllm-serve", LlamaCPP: "llama-server",
	MegatronLM: "megatron-lm", TorchTitan: "torchtitan"}

func mustLoad(t testing.TB, engine string) *List {
	t.Helper()
	l, err := Load(engine, "")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestListsAreComplete: every flag of the source, with its type and whether it is
// deprecated.
func TestListsAreComplete(t *testing.T) {
	for engine, file := range names {
		b, err := os.ReadFile(filepath.Join("../../../shared/launch/flags", file+".json"))
		if err != nil {
			t.Skipf("the public lists are not here: %v", err)
		}
		var want struct {
			Flags []struct {
				Name, Type string
				Deprecated bool
			}
		}
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		l := mustLoad(t, engine)
		if len(l.Flags) != len(want.Flags) {
			t.Errorf("%s has %d flags, its source %d", engine, len(l.Flags), len(want.Flags))
			continue
		}
		for i, w := range want.Flags {
			f := l.Flags[i]
			if f.Name != w.Name || f.Deprecated != w.Deprecated || string(f.Type) != w.Type && !strings.HasSuffix(f.Name, "device") {
				t.Errorf("%s: flag %d is %+v, want %+v", engine, i, f, w)
			}
		}
	}
}

func TestGrammar(t *testing.T) {
	type reads struct {
		Name, Path string
		Values     []string
		Off        bool
	}
	for _, c := range []struct {
		says, engine, words string
		want                []reads
		positional          string
	}{
		{"dashes, underscores and short names are the same flag", VLLM, "m -tp 8 --pipeline_parallel_size=2", []reads{
			{"--tensor-parallel-size", "", []string{"8"}, false}, {"--pipeline-parallel-size", "", []string{"2"}, false}}, "m"},
		{"a bool has an off form and takes no word", VLLM, "--no-enable-prefix-caching m", []reads{{"--enable-prefix-caching", "", nil, true}}, "m"},
		{"keys of a JSON flag", VLLM, "--eplb-config.window_size 1000 -cc.cudagraph_mode=FULL", []reads{
			{"--eplb-config", "window_size", []string{"1000"}, false}, {"--compilation-config", "cudagraph_mode", []string{"FULL"}, false}}, ""},
		{"-O3 is a level", VLLM, "-O3", []reads{{"--optimization-level", "", []string{"3"}, false}}, ""},
		{"a list ends at the next flag", VLLM, "--cudagraph-capture-sizes 1 2 4 -tp 2", []reads{
			{"--cudagraph-capture-sizes", "", []string{"1", "2", "4"}, false}, {"--tensor-parallel-size", "", []string{"2"}, false}}, ""},
		{"an unambiguous prefix", SGLang, "--tp 8 --dp 8 --trust-remote", []reads{
			{"--tp-size", "", []string{"8"}, false}, {"--dp-size", "", []string{"8"}, false}, {"--trust-remote-code", "", nil, false}}, ""},
		{"an ambiguous prefix is unknown", SGLang, "--enable", []reads{{"", "", nil, false}}, ""},
		{"negative numbers are values", SGLang, "--chunked-prefill-size -1", []reads{{"--chunked-prefill-size", "", []string{"-1"}, false}}, ""},
		{"no prefixes in Megatron-LM", MegatronLM, "--tensor-model 8", []reads{{"", "", []string{"8"}, false}}, ""},
		{"underscores and aliases of click", TRTLLM, "m --tp_size 8 --config=f.yaml --no-telemetry", []reads{
			{"--tensor_parallel_size", "", []string{"8"}, false}, {"--extra_llm_api_options", "", []string{"f.yaml"}, false}, {"--telemetry", "", nil, true}}, "m"},
		{"one dash and many letters", LlamaCPP, "-m f.gguf -ngl all -nkvo", []reads{
			{"--model", "", []string{"f.gguf"}, false}, {"--n-gpu-layers", "", []string{"all"}, false}, {"--kv-offload", "", nil, true}}, ""},
		{"sections of tyro", TorchTitan, "--parallelism.tensor-parallel-degree=8 --compile.no-enable", []reads{
			{"--parallelism.tensor_parallel_degree", "", []string{"8"}, false}, {"--compile.enable", "", nil, true}}, ""},
		{"keys of Megatron-Bridge", MegatronBridge, "model.tensor_model_parallel_size=2", []reads{
			{"model.tensor_model_parallel_size", "", []string{"2"}, false}}, ""},
		{"an unknown flag keeps the word after it", VLLM, "--swap-space 16 -tp 2", []reads{
			{"", "", []string{"16"}, false}, {"--tensor-parallel-size", "", []string{"2"}, false}}, ""},
	} {
		line, err := mustLoad(t, c.engine).Parse("", strings.Fields(c.words))
		if err != nil {
			t.Errorf("%s: %v", c.says, err)
			continue
		}
		var got []reads
		for _, a := range line.Args {
			if a.Word == "" {
				continue
			}
			r := reads{"", a.Path, a.Values, a.Off}
			if a.Flag != nil {
				r.Name = a.Flag.Name
			}
			got = append(got, r)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.says, d)
		}
		if p := strings.Join(line.Positional, " "); p != c.positional {
			t.Errorf("%s: positional %q, want %q", c.says, p, c.positional)
		}
	}
}

// TestCheck: what is written must be in the list with a legal value.
func TestCheck(t *testing.T) {
	for _, c := range []struct{ says, engine, words, err, warning string }{
		{"known and legal", VLLM, "m --tensor-parallel-size 8", "", ""},
		{"unknown", VLLM, "m --tensor-size 8", "no flag --tensor-size", ""},
		{"no number", VLLM, "m --tensor-parallel-size eight", "a whole number", ""},
		{"no choice", SGLang, "--moe-a2a-backend carrier-pigeon", "one of none, deepep", ""},
		{"deprecated, with what replaces it", SGLang, "--cuda-graph-max-bs 8", "", "--cuda-graph-max-bs-decode"},
		{"ends the program", SGLang, "--enable-expert-distribution-metrics", "ends sglang", ""},
		{"a key that the class lacks", VLLM, `m --eplb-config {"copies":3}`, `no key "copies"`, ""},
		{"a dotted key that the class lacks", VLLM, `m --eplb-config.copies 3`, `no key "copies"`, ""},
		{"no JSON", VLLM, "m --eplb-config 3", "a JSON object", ""},
		{"no value", VLLM, "m --max-model-len", "needs a value", ""},
		{"a length in thousands", VLLM, "m --max-model-len 32k", "", ""},
		{"a length in words", LlamaCPP, "-ngl many", "a whole number", ""},
	} {
		w, err := mustLoad(t, c.engine).Check("", strings.Fields(c.words))
		if c.err == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v, want %q", c.says, err, c.err)
		}
		if got := strings.Join(w, ";"); !strings.Contains(got, c.warning) || c.warning == "" && got != "" {
			t.Errorf("%s: warnings %q, want %q", c.says, got, c.warning)
		}
	}
}

func TestLoadNamesTheNearestVersion(t *testing.T) {
	if _, err := Load(VLLM, "0.26.0"); err != nil {
		t.Error(err)
	}
	for _, c := range [][3]string{{VLLM, "0.30.0", "v0.26.0"}, {"tgi", "", "use one of vllm"}} {
		if _, err := Load(c[0], c[1]); err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s %s: %v, want %q", c[0], c[1], err, c[2])
		}
	}
}

func TestDecodeIsStrict(t *testing.T) {
	for says, text := range map[string]string{
		"an unknown key":      `{"engine":"vllm","version":"1","source":"s","flagz":[]}`,
		"a type that is none": `{"engine":"vllm","version":"1","source":"s","flags":[{"name":"--a","type":"tensor"}]}`,
		"a shared name":       `{"engine":"vllm","version":"1","source":"s","flags":[{"name":"--a-b","type":"int"},{"name":"--a_b","type":"int"}]}`,
		"no source":           `{"engine":"vllm","version":"1","flags":[]}`,
	} {
		if _, err := Decode([]byte(text)); err == nil {
			t.Errorf("%s was accepted", says)
		}
	}
}

// FuzzParse: any words are read without a panic, and none is lost.
func FuzzParse(f *testing.F) {
	for i, words := range []string{"m -tp 8 --x=y", "--tp 8 --json {}", "--tp_size 8 --", "-ngl all -fa", "--bf16 --recompute-modules a b",
		"a.b=c +d=e", "--parallelism.tensor_parallel_degree 2"} {
		f.Add(uint8(i), words)
	}
	f.Fuzz(func(t *testing.T, e uint8, text string) {
		l := mustLoad(t, Engines()[int(e)%len(Engines())])
		words := strings.Split(text, " ")
		line, err := l.Parse("", words)
		if err != nil {
			if strings.Count(err.Error(), "\n") > strings.Count(text, "\n") {
				t.Errorf("error of several lines: %v", err)
			}
			return
		}
		n := 0
		for _, a := range line.Args {
			n += min(1, len(a.Word)) + len(a.Values)
		}
		if n < len(words)-1 { // "--" itself belongs to nothing
			t.Errorf("%q: %d of %d words kept", words, n, len(words))
		}
		line.Unknown()
		line.Deprecated()
		line.Repeated()
		line.Illegal()
		_, _ = l.Check("", words)
	})
}
