package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The exit codes, documented in docs/formats.md.
const (
	exitDone       = 0
	exitFailed     = 1 // could not write, was interrupted, or a defect of Ridgeline
	exitBadInput   = 2 // usage or input is wrong; the line on stderr names it and the mend
	exitInfeasible = 3 // nothing feasible; the plan that came nearest is printed
	exitMissed     = 4 // an asked-for threshold was missed
)

// exitError gives an error its exit code.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// badInput marks an error of another package as the user's to mend: exit 2.
// A nil error stays nil.
func badInput(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitBadInput, err}
}

// usagef is badInput for an error that is made on the spot.
func usagef(format string, args ...any) error { return badInput(fmt.Errorf(format, args...)) }

// infeasiblef reports that no plan is feasible: exit 3. The command has printed
// what came nearest.
func infeasiblef(format string, args ...any) error {
	return &exitError{exitInfeasible, fmt.Errorf(format, args...)}
}

// joined is several errors on one line, nil of none; its exit code is that of the first that has one.
func joined(list ...error) error {
	var all error
	for _, err := range list {
		switch {
		case err == nil:
		case all == nil:
			all = err
		default:
			all = fmt.Errorf("%w; %w", all, err)
		}
	}
	return all
}

// worded is an error's text; that of an interrupt says so in place of the context's own words.
func worded(err error) string {
	text := err.Error()
	if !errors.Is(err, context.Canceled) {
		return text
	}
	text = strings.TrimSuffix(strings.TrimSuffix(text, context.Canceled.Error()), ": ")
	switch {
	case text == "":
		return "interrupted"
	case strings.HasPrefix(text, "interrupted"):
		return text
	}
	return "interrupted: " + text
}

// exit prints err as one line and returns its code.
func exit(w io.Writer, err error) int {
	if err == nil {
		return exitDone
	}
	fmt.Fprintf(w, "ridgeline: %s\n", strings.Join(strings.Fields(worded(err)), " "))
	var e *exitError
	if errors.As(err, &e) {
		return e.code
	}
	return exitFailed
}
