package launch

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/argv"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// defaultPort is where each engine listens by its own default.
var defaultPort = map[string]int{argv.VLLM: 8000, argv.SGLang: 30000, argv.TRTLLM: 8000, argv.LlamaCPP: 8080}

// serving builds the groups of a serving plan.
func (b *builder) serving() error {
	if b.Serve.Port == 0 {
		b.Serve.Port = defaultPort[b.Engine]
	}
	if b.Serve.Drafts > 0 && len(b.Model.MTP) == 0 && b.Engine != argv.LlamaCPP {
		return fmt.Errorf("--spec mtp:%d: %s has no MTP module: leave it out", b.Serve.Drafts, b.Model.Name)
	}
	write, ok := map[string]func(role) (group, error){
		argv.VLLM: b.vllm, argv.SGLang: b.sglang, argv.TRTLLM: b.trtllm, argv.LlamaCPP: b.llama,
	}[b.Engine]
	if !ok {
		return fmt.Errorf("%s trains and does not serve: use vllm, sglang, trtllm or llamacpp", b.Engine)
	}
	for _, r := range b.roles() {
		s := r.layout
		if err := s.Check(b.Model, int64(s.Total())); err != nil {
			return err
		}
		if err := b.wholeBlocks(r); err != nil {
			return err
		}
		g, err := write(r)
		if err != nil {
			return err
		}
		g.name, g.role, g.replicas, g.port = b.Name, r.name, r.replicas, b.Serve.Port
		if r.name != "" {
			g.name += "-" + r.name
		}
		b.groups = append(b.groups, g)
	}
	if b.Split != nil {
		return b.router()
	}
	return nil
}

// args collects the arguments of a command.
type args struct{ words []Word }

func (a *args) add(texts ...string) { a.words = append(a.words, lit(texts...)...) }

// size adds a flag with a number, unless it is the engine's default.
func (a *args) size(flag string, n, unset int) {
	if n != unset {
		a.add(flag, strconv.Itoa(n))
	}
}

// count adds a flag with a number, unless it was not given.
func (a *args) count(flag string, n int64) {
	if n > 0 {
		a.add(flag, strconv.FormatInt(n, 10))
	}
}

// ref adds a flag with a value that the target knows.
func (a *args) ref(flag string, w Word) { a.words = append(a.words, Word{Text: flag}, w) }

// json adds a flag with an object; keys are written in the order given.
func (a *args) json(flag string, pairs ...any) {
	var parts []string
	for i := 0; i+1 < len(pairs); i += 2 {
		v := fmt.Sprint(pairs[i+1])
		if s, ok := pairs[i+1].(string); ok {
			v = strconv.Quote(s)
		}
		parts = append(parts, strconv.Quote(pairs[i].(string))+":"+v)
	}
	a.add(flag, "{"+strings.Join(parts, ",")+"}")
}

// kvNames are the engines' words for the format of the KV cache.
var kvNames = map[string]map[string]string{
	argv.VLLM:     {"bf16": "bfloat16", "fp16": "float16", "fp8": "fp8", "nvfp4": "nvfp4"},
	argv.SGLang:   {"bf16": "bf16", "fp8": "fp8_e4m3", "mxfp8": "mxfp8", "nvfp4": "nvfp4"},
	argv.TRTLLM:   {"bf16": "auto", "fp8": "fp8", "nvfp4": "nvfp4"},
	argv.LlamaCPP: {"fp32": "f32", "fp16": "f16", "bf16": "bf16", "int8": "q8_0", "int4": "q4_0"},
}

// kvName is the engine's word for --kv, "" where it was not given.
func (b *builder) kvName() (string, error) {
	if b.Serve.KV == "" {
		return "", nil
	}
	if name := kvNames[b.Engine][b.Serve.KV]; name != "" {
		return name, nil
	}
	f, ok := unit.ParseFormat(b.Serve.KV)
	near := "fp8"
	switch {
	case !ok:
		return "", fmt.Errorf("KV cache format %q is unknown: use one of %s", b.Serve.KV, strings.Join(slices.Sorted(maps.Keys(kvNames[b.Engine])), ", "))
	case f.Bits() >= 16:
		near = "bf16"
	case b.Engine == argv.LlamaCPP:
		near = "int8 (q8_0)"
	}
	return "", fmt.Errorf("%s has no KV cache of %s: nearest is %s", b.Engine, b.Serve.KV, near)
}

// formats adds the cache's and the weights' formats, in the flags that vLLM and SGLang
// share.
func (b *builder) formats(a *args) error {
	kv, err := b.kvName()
	if err != nil {
		return err
	}
	if kv != "" {
		a.add("--kv-cache-dtype", kv)
	}
	if q := b.Serve.Quantization; q != "" {
		a.add("--quantization", q)
	}
	return nil
}

// servedName is the name by which clients ask for the model.
func (b *builder) servedName() string { return b.Model.Name }
