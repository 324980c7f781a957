package launch

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// maxWord bounds a word after expansion, so that no script can grow one without
// end.
const maxWord = 1 << 14

// shellVars are the variables that a script has set so far. Nothing is taken from
// the environment of Ridgeline itself.
type shellVars map[string]expand.Variable

// Get implements expand.Environ.
func (v shellVars) Get(name string) expand.Variable { return v[name] }

// Each implements expand.Environ.
func (v shellVars) Each(do func(string, expand.Variable) bool) {
	for name, value := range v {
		if !do(name, value) {
			return
		}
	}
}

// newShellVars makes variables of an environment.
func newShellVars(env map[string]string) shellVars {
	v := shellVars{}
	for name, value := range env {
		v[name] = expand.Variable{Set: true, Kind: expand.String, Str: value}
	}
	return v
}

// strings are the variables that hold one text.
func (v shellVars) strings() map[string]string {
	m := map[string]string{}
	for name, value := range v {
		if value.Kind == expand.String {
			m[name] = value.Str
		}
	}
	return m
}

// errRuns is why a word stays as it is written: only running it would tell.
var errRuns = errors.New("the word runs a command")

// config expands words without running anything: command and process substitution
// are errors, files are not looked at, an unset variable is an error.
func (v shellVars) config() *expand.Config {
	return &expand.Config{Env: v, NoUnset: true,
		CmdSubst:  func(io.Writer, *syntax.CmdSubst) error { return errRuns },
		ProcSubst: func(*syntax.ProcSubst) (string, error) { return "", errRuns }}
}

// expanded calls one of package expand's functions. That package panics on some
// expansions that its parser lets pass (an unknown ${x@y}), which is no more than
// a word that cannot be known.
func expanded[T any](do func() (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("expansion: %v", p)
		}
	}()
	return do()
}

// resolve replaces the shell variables of one word from env. A word that holds
// others, or anything that would have to be run, stays as it is.
func resolve(word string, env map[string]string) string {
	if !strings.Contains(word, "$") || len(env) == 0 && !strings.Contains(word, ":-") || tooDeep(word) {
		return word
	}
	doc, err := syntax.NewParser().Document(strings.NewReader(word))
	if err != nil {
		return word
	}
	out, err := expanded(func() (string, error) { return expand.Document(newShellVars(env).config(), doc) })
	if err != nil || len(out) > maxWord {
		return word
	}
	return out
}

// Script finds the simple commands of a shell script, in order, with the variables
// that stand before them. Branches are all taken, loops once; here-documents and
// quoted scripts (bash -c '...') are read as scripts of their own. Nothing is run.
func Script(name, text string) ([]Command, error) {
	s := &scriptReader{vars: newShellVars(slurmVars(text))}
	if err := s.read(name, text, 0); err != nil {
		return nil, err
	}
	return s.commands, nil
}

type scriptReader struct {
	vars     shellVars
	files    map[string]string // here-documents that cat and tee write, by last name
	commands []Command
}

func (s *scriptReader) read(name, text string, depth int) error {
	if err := checkNesting(text); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		var at syntax.ParseError
		if errors.As(err, &at) {
			return fmt.Errorf("%s line %d: %s: mend the shell syntax", name, at.Pos.Line(), at.Text)
		}
		return fmt.Errorf("%s: %s: mend the shell syntax", name, strings.ReplaceAll(err.Error(), "\n", " "))
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DeclClause:
			s.assign(n.Args)
		case *syntax.Stmt:
			s.written(n)
		case *syntax.CallExpr:
			s.call(n, depth)
		case *syntax.CmdSubst:
			return false // its command belongs to a value
		}
		return true
	})
	return nil
}

func (s *scriptReader) assign(list []*syntax.Assign) {
	for _, a := range list {
		if a.Naked && a.Value != nil { // export "NAME=value"
			if name, text, ok := strings.Cut(s.literal(a.Value), "="); ok {
				s.vars[name] = expand.Variable{Set: true, Kind: expand.String, Str: text}
			}
		}
		if a.Name == nil || a.Naked {
			continue
		}
		old := s.vars[a.Name.Value]
		switch {
		case a.Array != nil:
			v := expand.Variable{Set: true, Kind: expand.Indexed}
			if a.Append {
				v.List = append(v.List, old.List...)
			}
			for _, e := range a.Array.Elems {
				if e.Value != nil && len(v.List) < maxWord {
					v.List = append(v.List, s.fields(e.Value)...)
				}
			}
			s.vars[a.Name.Value] = v
		case a.Value != nil:
			text := s.literal(a.Value)
			if a.Append {
				text = old.Str + text
			}
			s.vars[a.Name.Value] = expand.Variable{Set: true, Kind: expand.String, Str: text[:min(len(text), maxWord)]}
		}
	}
}

func (s *scriptReader) call(c *syntax.CallExpr, depth int) {
	if len(c.Args) == 0 {
		s.assign(c.Assigns)
		return
	}
	var words []string
	for _, w := range c.Args {
		if len(words) > maxWord {
			return // no command of an engine
		}
		words = append(words, s.fields(w)...)
	}
	env := s.vars.strings()
	for _, a := range c.Assigns {
		if a.Name != nil && a.Value != nil {
			env[a.Name.Value] = s.literal(a.Value)
		}
	}
	s.commands = append(s.commands, Command{Words: words, Env: env, Files: s.files})
	if inner := scriptOf(words); inner != "" && depth < 3 {
		_ = s.read("inner script", inner, depth+1) // what is no script stays a word
	}
}

// written keeps the here-document that a statement writes to a file.
func (s *scriptReader) written(st *syntax.Stmt) {
	call, ok := st.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return
	}
	var to, text *syntax.Word
	switch call.Args[0].Lit() {
	case "cat":
	case "tee":
		if len(call.Args) > 1 {
			to = call.Args[len(call.Args)-1]
		}
	default:
		return
	}
	for _, r := range st.Redirs {
		switch {
		case r.Hdoc != nil:
			text = r.Hdoc
		case r.Op == syntax.RdrOut || r.Op == syntax.AppOut || r.Op == syntax.RdrClob:
			to = r.Word
		}
	}
	if to == nil || text == nil {
		return
	}
	if s.files == nil {
		s.files = map[string]string{}
	}
	name := path.Base(s.literal(to))
	if all := s.files[name] + s.literal(text); len(all) <= maxWord { // >> adds
		s.files[name] = all
	}
}

// scriptOf is the script that a shell's -c runs, "" for other commands.
func scriptOf(words []string) string {
	for i := 0; i+1 < len(words); i++ {
		if w := words[i]; strings.HasPrefix(w, "-") && strings.HasSuffix(w, "c") && len(w) <= 4 && i > 0 && strings.HasSuffix(words[i-1], "sh") {
			return words[i+1]
		}
	}
	return ""
}

// literal is a word as one text; what cannot be known stays as it is written.
func (s *scriptReader) literal(w *syntax.Word) string {
	if text, ok := hereText(w); ok && len(text) <= maxWord {
		return text
	}
	out, err := expanded(func() (string, error) { return expand.Literal(s.vars.config(), w) })
	if err != nil || len(out) > maxWord {
		return source(w)
	}
	return out
}

// hereText is the text of $(cat <<'END' ... END), which holds no expansion.
func hereText(w *syntax.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	c, ok := w.Parts[0].(*syntax.CmdSubst)
	if !ok || len(c.Stmts) != 1 || len(c.Stmts[0].Redirs) != 1 {
		return "", false
	}
	call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr)
	r := c.Stmts[0].Redirs[0]
	if !ok || len(call.Args) != 1 || call.Args[0].Lit() != "cat" || r.Hdoc == nil || r.Word.Lit() != "" {
		return "", false
	}
	return strings.TrimRight(r.Hdoc.Lit(), "\n"), true
}

// fields is the words that one word of a script becomes.
func (s *scriptReader) fields(w *syntax.Word) []string {
	if strings.Contains(source(w), "..") {
		return []string{s.literal(w)} // a sequence of braces could be long
	}
	out, err := expanded(func() ([]string, error) { return expand.Fields(s.vars.config(), w) })
	if err != nil {
		return []string{source(w)}
	}
	for i := range out {
		out[i] = out[i][:min(len(out[i]), maxWord)]
	}
	return out
}

// source is a word as the script writes it, without quotes around the whole.
func source(w *syntax.Word) string {
	var b strings.Builder
	if err := syntax.NewPrinter().Print(&b, w); err != nil {
		return ""
	}
	text := b.String()
	if len(text) > 1 && (text[0] == '"' || text[0] == '\'') && text[len(text)-1] == text[0] {
		text = text[1 : len(text)-1]
	}
	return text
}
