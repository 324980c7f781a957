package launch

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// warn adds the doubts of an import.
func (im *Imported) warn(config map[string]any) {
	for _, v := range im.Unresolved {
		im.Warnings = append(im.Warnings, fmt.Sprintf("%s holds a size and is not known: set the variable or write the number", oneLine(v)))
	}
	for _, f := range im.RepeatedFlags {
		im.Warnings = append(im.Warnings, fmt.Sprintf("flag %s is given more than once: the engine takes the last", f))
	}
	seen := map[*argv.Flag]bool{}
	for i := range im.line.Args {
		if f := im.line.Args[i].Flag; f != nil && f.Deprecated && f.ReplacedBy != "" && !seen[f] {
			seen[f] = true
			im.Warnings = append(im.Warnings, fmt.Sprintf("flag %s is deprecated in %s %s: use %s", f.Name, im.Engine, im.FlagList, f.ReplacedBy))
		}
	}
	if config == nil {
		for _, flag := range []string{"--extra_llm_api_options", "--config"} {
			if v, given := im.line.Get(flag); given && im.Engine != argv.TorchTitan {
				im.Warnings = append(im.Warnings, fmt.Sprintf("%s may hold degrees and was not read: give it with --config-file", oneLine(v)))
				break
			}
		}
	}
}

// none is list, or an empty list for nil, so that JSON says [].
func none(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// oneLine is a word as it was, quoted where it would break a message's line.
func oneLine(s string) string {
	if strings.ContainsFunc(s, unicode.IsControl) || !utf8.ValidString(s) {
		return brief([]string{s})
	}
	return s
}

// brief quotes the start of words for a message.
func brief(words []string) string {
	s := strings.ToValidUTF8(strings.Join(words, " "), "?")
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "..."
	}
	return fmt.Sprintf("%q", s)
}
