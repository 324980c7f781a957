package argv

import "strings"

// grammar is how an engine's parser reads words.
type grammar struct {
	underscores bool // --a_b is --a-b
	prefixes    bool // an unambiguous prefix of a long flag names it
	dotted      bool // --flag.key value sets a key of a JSON flag
	tyro        bool // --section.field, - or _, booleans as --section.no-field
	click       bool // words after the flags are one value each; a repeated flag collects where it may
	oneDash     bool // long names may begin with one dash and take no =
	bare        bool // key=value words without dashes
	glued       string
}

// The grammars: vLLM's FlexibleArgumentParser (dashes or underscores, dotted
// JSON keys, -O3), argparse with prefixes (SGLang) and without (Megatron-LM),
// click (TensorRT-LLM), tyro (torchtitan), llama.cpp's own, and the key=value
// words of Megatron-Bridge.
var grammars = map[string]grammar{
	VLLM:           {underscores: true, dotted: true, glued: "-O"},
	SGLang:         {prefixes: true},
	TRTLLM:         {click: true},
	LlamaCPP:       {oneDash: true},
	MegatronLM:     {},
	MegatronBridge: {bare: true},
	TorchTitan:     {tyro: true},
}

// fold brings a flag's name to the form that names are compared in.
func (g grammar) fold(name string) string {
	if g.underscores && strings.HasPrefix(name, "--") || g.tyro {
		return strings.ReplaceAll(name, "_", "-")
	}
	return name
}

// flagLike tells whether a word can only be a flag: a dash and a letter, or two
// dashes. Negative numbers and a lone dash are values.
func flagLike(w string) bool {
	if strings.ContainsAny(w, " \t\n") { // argparse: no flag has blanks before its =
		w, _, _ = strings.Cut(w, "=")
		if strings.ContainsAny(w, " \t\n") {
			return false
		}
	}
	if strings.HasPrefix(w, "--") {
		return len(w) > 2
	}
	return len(w) > 1 && w[0] == '-' && (w[1] >= 'a' && w[1] <= 'z' || w[1] >= 'A' && w[1] <= 'Z')
}

// named is what a flag word means.
type named struct {
	word  string // the flag as written, without =value
	flag  *Flag
	path  string // key below a JSON flag, dotted
	value string
	given bool // value was in the word
	off   bool
}

// find resolves a flag word, without and with its =value. The flag is nil where
// the list does not know it.
func (l *List) find(sub, word string) named {
	name, value, given := word, "", false
	if !l.rules.oneDash {
		name, value, given = strings.Cut(word, "=")
	}
	n := named{word: name, value: value, given: given}
	if n.flag = l.byName[l.key(sub, name)]; n.flag != nil {
		n.off = l.off(n.flag, name)
		return n
	}
	if g := l.rules.glued; g != "" && len(name) > len(g) && strings.HasPrefix(name, g) {
		if n.flag = l.byName[g]; n.flag != nil {
			n.word, n.value, n.given = g, strings.TrimPrefix(word, g), true
			return n
		}
	}
	if l.rules.dotted {
		if base, path, ok := strings.Cut(name, "."); ok {
			if f := l.byName[l.key(sub, base)]; f != nil && f.Type == JSON {
				n.flag, n.path = f, strings.TrimSuffix(path, "+")
				return n
			}
		}
	}
	if l.rules.prefixes && strings.HasPrefix(name, "--") {
		n.flag, n.off = l.prefixed(name)
	}
	return n
}

// prefixed finds the one flag that name abbreviates; an ambiguous prefix finds
// none.
func (l *List) prefixed(name string) (found *Flag, off bool) {
	for known, f := range l.byName {
		if !strings.HasPrefix(known, name) {
			continue
		}
		if found != nil && found != f {
			return nil, false
		}
		found, off = f, l.off(f, known)
	}
	return found, off
}
