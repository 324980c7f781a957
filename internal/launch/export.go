package launch

import (
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// Words writes an imported command again: its degrees from Degrees, as Flags
// states them, and every other word as it was. A size that is not known keeps its
// own words.
func (im *Imported) Words() []string {
	all := im.line.Args
	lead := 0
	for lead < len(all) && all[lead].Word == "" {
		lead++
	}
	out := slices.Clone(im.prog.before)
	sizes := im.Degrees.Flags(im.Engine)
	if im.Engine == argv.TorchTitan { // whose function states what is left out
		sizes = im.Degrees.Overrides(im.Engine)
	}
	for i := range all {
		if i == lead {
			out = append(out, sizes...)
		}
		if !im.owns(&all[i]) {
			out = append(out, argWords(im.Engine, &all[i])...)
		}
	}
	if lead == len(all) {
		out = append(out, sizes...)
	}
	return out
}

// owns tells whether Degrees states what an argument states.
func (im *Imported) owns(a *argv.Arg) bool {
	if a.Flag == nil || a.Path != "" {
		return false
	}
	for _, f := range sizes[im.Engine] {
		if f.flag == a.Flag.Name {
			return *f.size(&im.Degrees) != 0 || len(a.Values) > 0 && !strings.Contains(a.Values[0], "$")
		}
	}
	for _, f := range switches[im.Engine] {
		if f.flag == a.Flag.Name {
			return true
		}
	}
	for _, f := range wordFlags[im.Engine] {
		if f.flag == a.Flag.Name {
			return true
		}
	}
	return false
}

// argWords writes one argument.
func argWords(engine string, a *argv.Arg) []string {
	word := a.Word
	switch {
	case word == "":
		return a.Values
	case engine == argv.MegatronBridge:
		return []string{word + "=" + strings.Join(a.Values, " ")}
	case word == "-O" && len(a.Values) == 1:
		return []string{word + a.Values[0]}
	}
	return append([]string{word}, a.Values...)
}
