package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
)

func TestExit(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		code int
		line string
	}{
		{"no error says nothing", nil, 0, ""},
		{"an unmarked error is a failure", errors.New("disk full"), 1, "ridgeline: disk full\n"},
		{"marked input errors stay marked when wrapped", fmt.Errorf("a: %w", badInput(errors.New("b"))), 2, "ridgeline: a: b\n"},
		{"usage", usagef("flag %s", "x"), 2, "ridgeline: flag x\n"},
		{"infeasible", infeasiblef("no plan fits"), 3, "ridgeline: no plan fits\n"},
		{"an interrupt says so", fmt.Errorf("--tables a: while fitting: %w", context.Canceled), 1, "ridgeline: interrupted: --tables a: while fitting\n"},
		{"an interrupt that says so already", fmt.Errorf("interrupted while predicting: %w", context.Canceled), 1, "ridgeline: interrupted while predicting\n"},
		{"several lines become one", badInput(errors.New("a\n\tb\n")), 2, "ridgeline: a b\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w bytes.Buffer
			if code := exit(&w, c.err); code != c.code || w.String() != c.line {
				t.Errorf("exit %d %q, want %d %q", code, w.String(), c.code, c.line)
			}
		})
	}
	if badInput(nil) != nil {
		t.Error("badInput(nil) is not nil")
	}
}
