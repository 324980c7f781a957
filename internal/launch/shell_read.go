package launch

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

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
