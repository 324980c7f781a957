package ask

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// quantity is a flag whose text is read by a parser.
type quantity[T any] struct {
	into  *T
	parse func(string) (T, error)
	kind  string // what help calls the value
	text  string // as given, or the default as help shows it
	given bool
}

func (q *quantity[T]) String() string { return q.text }
func (q *quantity[T]) Type() string   { return q.kind }
func (q *quantity[T]) zero() bool     { return reflect.ValueOf(*q.into).IsZero() }

func (q *quantity[T]) Set(s string) error {
	if q.given {
		return fmt.Errorf("given twice: give it once")
	}
	v, err := q.parse(s)
	if err == nil {
		*q.into, q.text, q.given = v, s, true
	}
	return err
}

// Quantity is the value of a flag whose text parse reads into into. Kind is what
// help calls the value, text the default as help shows it.
func Quantity[T any](into *T, parse func(string) (T, error), kind, text string) pflag.Value {
	return &quantity[T]{into: into, parse: parse, kind: kind, text: text}
}

// Text adds a flag that takes a text as it is, once.
func Text(fs *pflag.FlagSet, into *string, name, usage string) {
	fs.Var(Quantity(into, func(s string) (string, error) { return s, nil }, "string", ""), name, usage)
}

// Switch adds a flag that is on where it is given, once.
func Switch(fs *pflag.FlagSet, into *bool, name, usage string) {
	fs.VarPF(Quantity(into, func(s string) (bool, error) {
		on, err := strconv.ParseBool(s)
		if err != nil {
			return false, fmt.Errorf("%q is neither true nor false: give one of them, as in --%s=true", s, name)
		}
		return on, nil
	}, "bool", "false"), name, "", usage).NoOptDefVal = "true"
}

// Duration adds a flag that reads a time with its unit; usage says what it means
// where it is left out.
func Duration(fs *pflag.FlagSet, into *unit.Seconds, name, usage string) {
	fs.Var(Quantity(into, unit.ParseSeconds, "time", ""), name, usage)
}

// Count adds a flag that reads a whole number such as 15360 or 14.8T.
func Count(fs *pflag.FlagSet, into *int64, name, usage string) {
	fs.Var(Quantity(into, unit.ParseCount, "N", ""), name, usage)
}

// MissingError is a question without one of its parts.
type MissingError struct{ Flag string }

func (e *MissingError) Error() string { return "--" + e.Flag + " is missing: give it" }

// Required complains about the first of the named flags that was not given, as a
// *MissingError.
func Required(fs *pflag.FlagSet, names ...string) error {
	for _, n := range names {
		if !fs.Changed(n) {
			return &MissingError{n}
		}
	}
	return nil
}

// NotEmpty complains about the first of the named flags that was given without a
// text; a set need not have them all.
func NotEmpty(fs *pflag.FlagSet, names ...string) error {
	for _, n := range names {
		if f := fs.Lookup(n); f != nil && f.Changed && strings.TrimSpace(f.Value.String()) == "" {
			return fmt.Errorf("--%s is empty: give it a value or leave it out", n)
		}
	}
	return nil
}

// NotZero complains about the first of the named quantities that was given as 0
// where 0 means nothing. Whoever leaves a flag out gets its default.
func NotZero(fs *pflag.FlagSet, names ...string) error {
	for _, n := range names {
		f := fs.Lookup(n)
		if z, ok := f.Value.(interface{ zero() bool }); ok && f.Changed && z.zero() {
			return fmt.Errorf("--%s %s: give more than 0, or leave it out", n, f.Value)
		}
	}
	return nil
}

// UnknownWord is the error about a word that is none of names: the nearest ones,
// or the mend where nothing is near.
func UnknownWord(kind, word string, names []string, mend string) error {
	near := &cobra.Command{SuggestionsMinimumDistance: 2} // cobra measures distances between command names only
	if len(word) <= 3 {
		near.SuggestionsMinimumDistance = 1 // two letters more or less make any short word of any other
	}
	var short []string
	for _, n := range names {
		if initials(n) == strings.ToLower(word) {
			short = append(short, n)
		}
		near.AddCommand(&cobra.Command{Use: n, Run: func(*cobra.Command, []string) {}})
	}
	s := short
	if len(s) == 0 {
		s = near.SuggestionsFor(word)
	}
	if len(s) > 0 {
		mend = fmt.Sprintf("did you mean %s?", strings.Join(s, " or "))
	}
	return fmt.Errorf("unknown %s %q: %s", kind, word, mend)
}

// initials are the first letters of a name of several words, by which people call it:
// rr of round-robin; "" of one word.
func initials(name string) string {
	words := strings.Split(name, "-")
	if len(words) < 2 {
		return ""
	}
	s := ""
	for _, w := range words {
		s += w[:min(1, len(w))]
	}
	return s
}

// servingPlan reads a serving plan; a key that it lacks is answered with the nearest.
func servingPlan(text string) (*plan.ServingText, error) {
	p, err := plan.ParseServing(text)
	var unknown *plan.UnknownKeyError
	if errors.As(err, &unknown) {
		var names []string
		for _, k := range unknown.Keys {
			names = append(names, string(k))
		}
		err = UnknownWord("plan key", unknown.Key, names, "use "+strings.Join(names, ", "))
	}
	return p, note.Of("plan", err)
}
