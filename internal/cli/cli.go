// Package cli is the command line: it reads arguments, asks the packages below
// for answers, hands them to package report and turns errors into exit codes.
//
// Every command is a constructor newXCommand(env) listed once in root.go. A
// command writes its answer to env.Stdout, with --json one JSON document and
// nothing else; notes and warnings go to env.Stderr. It returns plain errors and
// marks those that are the user's to mend (exit.go). Nothing is computed here.
package cli

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/ridgeline/ridgeline/internal/openai"
	"github.com/ridgeline/ridgeline/internal/report"
)

// Env is where a command reads and writes.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// print draws a page of text on stdout.
func (env *Env) print(draw func(p *report.Page)) error {
	p := report.NewPage(env.Stdout)
	draw(p)
	return p.Flush()
}

// Run executes one command line, without the program's name, and returns the
// exit code. An interrupt, a termination signal or the end of its terminal cancels the context of the
// running command.
func Run(args []string, in io.Reader, out, errs io.Writer) int {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	log.SetOutput(openai.Log(errs)) // what libraries say that have no logger to be set
	root := newRoot(&Env{Stdin: in, Stdout: out, Stderr: errs})
	help := &watched{w: out}
	root.SetOut(help) // what cobra itself prints, and does not check
	if args == nil {
		args = []string{} // cobra reads os.Args where it gets nil
	}
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil && help.err != nil {
		err = fmt.Errorf("cannot write the answer: %w", help.err)
	}
	return exit(errs, err)
}

// watched remembers the first write that failed.
type watched struct {
	w   io.Writer
	err error
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}
