package argv

import (
	"fmt"
	"strconv"
	"strings"
)

// Arg is one flag as a command line gives it.
type Arg struct {
	Flag   *Flag  // nil where the list does not know it
	Word   string // the flag as written, without =value; "" for a word that belongs to none
	Path   string // key below a JSON flag
	Values []string
	Off    bool // the off form of a bool
}

// Line is a command line that has been read.
type Line struct {
	List       *List
	Args       []Arg
	Positional []string // words that belong to no flag
}

// Parse reads the words that follow an engine's program name by its grammar; sub
// is the subcommand, "" for the usual one. A flag without its value is an error;
// flags that the list does not know are kept, with the words that look like their
// values.
func (l *List) Parse(sub string, words []string) (*Line, error) {
	line := &Line{List: l}
	if l.rules.bare {
		return line, l.parseBare(line, words)
	}
	for i := 0; i < len(words); {
		w := words[i]
		i++
		if w == "--" {
			line.place(words[i:]...)
			break
		}
		if !flagLike(w) {
			line.place(w)
			continue
		}
		n := l.find(sub, w)
		a := Arg{Flag: n.flag, Word: n.word, Path: n.path, Off: n.off}
		if n.given {
			a.Values = []string{n.value}
			line.Args = append(line.Args, a)
			continue
		}
		low, high := n.wants()
		for len(a.Values) < high && i < len(words) && words[i] != "--" && l.isValue(sub, words[i], len(a.Values) < low) {
			a.Values = append(a.Values, words[i])
			i++
		}
		if len(a.Values) < low {
			return nil, fmt.Errorf("flag %s needs a value: add it or leave the flag out", w)
		}
		line.Args = append(line.Args, a)
	}
	return line, nil
}

// many stands for no upper bound of values.
const many = 1 << 30

// wants is how many words follow a flag.
func (n *named) wants() (low, high int) {
	f := n.flag
	switch {
	case f == nil:
		return 0, 1
	case n.path != "":
		return 1, 1
	case n.off || f.Type == Bool && len(f.Also) == 0 && f.Nargs == "":
		return 0, 0
	case f.Type == Bool && f.Nargs == "": // --hf-token [TOKEN]
		return 0, 1
	}
	switch f.Nargs {
	case "", "append":
		return 1, 1
	case "+":
		return 1, many
	case "*":
		return 0, many
	case "?":
		return 0, 1
	}
	k, err := strconv.Atoi(f.Nargs)
	if err != nil {
		return 1, 1
	}
	return k, k
}

// isValue tells whether a word that follows a flag is its value. Parsers that
// take exactly the next word (click, llama.cpp) take whatever stands there.
func (l *List) isValue(sub, w string, needed bool) bool {
	if !flagLike(w) {
		return true
	}
	return needed && (l.rules.click || l.rules.oneDash) && l.find(sub, w).flag == nil
}

// place files words that belong to no flag.
func (c *Line) place(words ...string) {
	for _, w := range words {
		c.Positional = append(c.Positional, w)
		c.Args = append(c.Args, Arg{Values: []string{w}})
	}
}

// parseBare reads key=value words.
func (l *List) parseBare(line *Line, words []string) error {
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		if !ok {
			line.place(w)
			continue
		}
		name = strings.TrimLeft(name, "+")
		line.Args = append(line.Args, Arg{Flag: l.byName[name], Word: name, Values: []string{value}})
	}
	return nil
}

// Get is the last value that line gives flag name, as parsers take it: of a bool
// "true" or "false". given is false where the flag is not there.
func (c *Line) Get(name string) (value string, given bool) {
	f := c.List.Flag(name)
	for i := len(c.Args) - 1; i >= 0 && f != nil; i-- {
		a := &c.Args[i]
		switch {
		case a.Flag != f || a.Path != "":
		case len(a.Values) > 0:
			return a.Values[len(a.Values)-1], true
		default:
			return strconv.FormatBool(!a.Off), true
		}
	}
	return "", false
}

// Has tells whether a flag is on.
func (c *Line) Has(name string) bool {
	v, given := c.Get(name)
	return given && v != "false"
}
