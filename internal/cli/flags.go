package cli

import (
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// quantity is a flag whose text is read by one of package unit's parsers.
type quantity[T any] struct {
	into  *T
	parse func(string) (T, error)
	kind  string // what help calls the value
	text  string // as given, or the default as help shows it
}

func (q *quantity[T]) String() string { return q.text }
func (q *quantity[T]) Type() string   { return q.kind }
func (q *quantity[T]) zero() bool     { return reflect.ValueOf(*q.into).IsZero() }

func (q *quantity[T]) Set(s string) error {
	v, err := q.parse(s)
	if err == nil {
		*q.into, q.text = v, s
	}
	return err
}

// durationFlag adds a flag that reads a time with its unit; usage says what it
// means where it is left out.
func durationFlag(cmd *cobra.Command, into *unit.Seconds, name, usage string) {
	cmd.Flags().Var(&quantity[unit.Seconds]{into, unit.ParseSeconds, "time", ""}, name, usage)
}

// countFlag adds a flag that reads a whole number such as 15360 or 14.8T.
func countFlag(cmd *cobra.Command, into *int64, name, usage string) {
	cmd.Flags().Var(&quantity[int64]{into, unit.ParseCount, "N", ""}, name, usage)
}

// required complains about the first of the named flags that was not given.
func required(cmd *cobra.Command, names ...string) error {
	for _, n := range names {
		if !cmd.Flags().Changed(n) {
			return usagef("%s needs --%s: see `%s --help`", cmd.Name(), n, cmd.CommandPath())
		}
	}
	return nil
}

// notEmpty complains about the first of the named flags that was given without a
// text; a command need not have them all.
func notEmpty(cmd *cobra.Command, names ...string) error {
	for _, n := range names {
		if f := cmd.Flags().Lookup(n); f != nil && f.Changed && strings.TrimSpace(f.Value.String()) == "" {
			return usagef("--%s is empty: give it a value or leave it out", n)
		}
	}
	return nil
}

// notZero complains about the first of the named quantities that was given as 0
// where 0 means nothing. Whoever leaves a flag out gets its default.
func notZero(cmd *cobra.Command, names ...string) error {
	for _, n := range names {
		f := cmd.Flags().Lookup(n)
		if z, ok := f.Value.(interface{ zero() bool }); ok && f.Changed && z.zero() {
			return usagef("--%s %s: give more than 0, or leave it out", n, f.Value)
		}
	}
	return nil
}
