package ask

import "github.com/spf13/pflag"

// engineSpelling is how vLLM calls limits of an engine for which infer, explain and
// launch have names of their own. --max-sequences and --max-num-seqs are no pair: the
// first counts an instance, the second one of its attention replicas.
var engineSpelling = map[string]string{"batch-tokens": "max-num-batched-tokens", "eager": "enforce-eager"}

// BothSpellings lets a flag of fs be given under the other name of its pair, so that
// what one command prints can be pasted into another. Help and errors keep the name
// that fs has.
func BothSpellings(fs *pflag.FlagSet) {
	other := map[string]string{}
	for own, engine := range engineSpelling {
		switch {
		case fs.Lookup(own) != nil:
			other[engine] = own
		case fs.Lookup(engine) != nil:
			other[own] = engine
		}
	}
	fs.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if to, ok := other[name]; ok {
			name = to
		}
		return pflag.NormalizedName(name)
	})
}
