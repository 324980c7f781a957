package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// progress is a one-line bar on a terminal; anywhere else it stays silent.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	doing string // what the bar counts, in front of it
	on    bool
	start time.Time
	drawn bool
}

// barDelay keeps short work from flashing a bar.
const barDelay = 300 * time.Millisecond

func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	return &progress{w: w, doing: "searching", on: ok && term.IsTerminal(int(f.Fd())), start: time.Now()}
}

func (p *progress) update(done, all int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.on || time.Since(p.start) < barDelay || all == 0 {
		return
	}
	const width = 40
	n := done * width / all
	fmt.Fprintf(p.w, "\r%s %s %3d %%", p.doing, bar(n, width), 100*done/all)
	p.drawn = true
}

// clear removes the bar before results are printed.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.on = false
}

// bar is n of width columns filled.
func bar(n, width int) string { return strings.Repeat("█", n) + strings.Repeat("░", width-n) }
