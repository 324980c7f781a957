package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/ridgeline/ridgeline/internal/bench"
)

// benchWatch shows a run that is under way: a bar on a terminal, elsewhere a line
// per stage and every half a minute.
type benchWatch struct {
	w        io.Writer
	terminal bool
	drawn    bool
	last     time.Time
}

const benchLineEvery = 30 * time.Second

func newBenchWatch(w io.Writer) *benchWatch {
	f, ok := w.(*os.File)
	return &benchWatch{w: w, terminal: ok && term.IsTerminal(int(f.Fd())), last: time.Now()}
}

func (b *benchWatch) show(e bench.Event) {
	stage := fmt.Sprintf("stage %d", e.Stage+1)
	if e.Stages > 0 {
		stage += fmt.Sprintf(" of %d", e.Stages)
	}
	switch e.Phase {
	case bench.Checking:
		if b.terminal {
			fmt.Fprint(b.w, "\rasking a first question")
			b.drawn = true
		}
		return
	case bench.StageDone:
		b.clear()
		s := e.Finished
		fmt.Fprintf(b.w, "%s, %s: %d ok, %d failed, %d truncated in %.1f s, %.4g tokens/s\n",
			stage, e.Level, s.Requests.OK, s.Requests.Failed, s.Requests.Truncated, s.To-s.From, s.OutputRate)
		b.last = time.Now()
		return
	}
	text := fmt.Sprintf("%s, %s: %.0f s, %d sent, %d ok, %d failed, %d in flight, %.4g tokens/s",
		stage, e.Level, e.Elapsed.Seconds(), e.Sent, e.OK, e.Failed, e.InFlight, e.TokenRate)
	if b.terminal {
		if e.Total > 0 {
			const width = 20
			n := min(e.OK+e.Failed, e.Total) * width / e.Total
			text = bar(n, width) + " " + text
		}
		fmt.Fprintf(b.w, "\r\x1b[K%s", text)
		b.drawn = true
	} else if time.Since(b.last) >= benchLineEvery {
		fmt.Fprintln(b.w, text)
		b.last = time.Now()
	}
}

func (b *benchWatch) clear() {
	if b.drawn {
		fmt.Fprint(b.w, "\r\x1b[K")
		b.drawn = false
	}
}
