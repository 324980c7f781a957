package launch

import (
	"errors"
	"fmt"
	"io"
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
