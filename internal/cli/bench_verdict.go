package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/report"
)

// show prints the report, writes the files, and judges.
func (f *benchFlags) show(env *Env, ctx context.Context, asJSON bool, d *bench.Report) error {
	var err error
	if f.records != "-" {
		err = showBench(env, asJSON, d)
	}
	lost := []error{err, f.outputs.write(d)} // what one place does not take costs no other
	if d.Unwritten != "" {
		lost = append(lost, fmt.Errorf("records: %s: the report is whole, the file is not", d.Unwritten))
	}
	switch err := joined(lost...); {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return errors.New("interrupted: the figures are those of what was measured so far")
	}
	return f.judge(d)
}

func showBench(env *Env, asJSON bool, d *bench.Report) error {
	if asJSON {
		return report.JSON(env.Stdout, d)
	}
	return env.print(func(p *report.Page) { report.Bench(p, d) })
}

// judge turns what was measured into the exit code.
func (f *benchFlags) judge(d *bench.Report) error {
	ok, sent := 0, 0
	for i := range d.Stages {
		ok, sent = ok+d.Stages[i].Requests.OK, sent+d.Stages[i].Requests.Sent
	}
	if sent == 0 || ok == 0 {
		why := "none was sent"
		for i := range d.Stages {
			if names := d.Stages[i].Failures(); len(names) > 0 {
				why = "most ended as " + names[0]
				break
			}
		}
		return fmt.Errorf("no request succeeded: %s", why)
	}
	for i := range d.Stages {
		s := &d.Stages[i]
		bad := s.Requests.Failed + s.Requests.Truncated
		if f.failAbove > 0 && float64(bad) > f.failAbove*float64(s.Requests.Sent) {
			return &exitError{exitMissed, fmt.Errorf("stage %d: %d of %d requests failed or were truncated", i+1, bad, s.Requests.Sent)}
		}
		if s.Meets != nil && !*s.Meets && !f.question.Searching() {
			return &exitError{exitMissed, fmt.Errorf("the objective is missed in stage %d: %s", i+1, s.Missed)}
		}
	}
	if f.question.Searching() && d.Best == nil && d.ClientLimited() {
		return &exitError{exitMissed, errors.New("no load that was tried meets the objective, and the client was not valid where it was missed: search from a machine with time to spare, or begin lower")}
	}
	if f.question.Searching() && d.Best == nil {
		return &exitError{exitMissed, errors.New("no load that was tried meets the objective: begin lower")}
	}
	return nil
}
