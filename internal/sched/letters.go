package sched

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// minColumns is the narrowest drawing: the rank's name and a little time.
const minColumns = 20

// legend has the entries of the passes that a drawing may show, two spaces apart.
func legend(seen [FB + 1]bool, small bool) string {
	s := "F forward  B backward"
	if seen[W] {
		s += "  W weight gradient"
	}
	if seen[FB] {
		s += "  X overlapped F and B"
	}
	s += "  . idle  number: micro-batch"
	if small {
		s += "  small: rank's further chunks"
	}
	return s
}

// Letters draws a layout in rows of at most width columns (20 or more): a row per
// rank, time to scale, a legend below. A pass is its letter and micro-batch
// number where they fit, the letter alone where they do not, drawn out with -.
// Small letters are chunks after the first of the rank. An overlapped pass names
// both halves, or is X.
func Letters(l *Layout, width int) string {
	width = max(width, minColumns)
	name := func(r int) string { return fmt.Sprintf("%*d ", len(fmt.Sprint(len(l.Ranks)-1)), r) }
	columns := width - len(name(0))
	var out strings.Builder
	scale := 0.0
	if l.End > 0 {
		scale = float64(columns) / float64(l.End)
	}
	var seen [FB + 1]bool
	small := false
	for r, list := range l.Ranks {
		row := make([]byte, columns)
		for i := range row {
			row[i] = '.'
		}
		first := l.Kind.ChunkAt(r, 0, len(l.Ranks))
		for _, x := range list {
			seen[x.Pass] = true
			small = small || x.Chunk != first
			drawPass(row, x, first, scale)
		}
		out.WriteString(name(r) + strings.TrimRight(string(row), " ") + "\n")
	}
	end := fmt.Sprintf("%.4g s", float64(l.End))
	fmt.Fprintf(&out, "%*s0%*s\n", len(name(0)), "", columns-1, end)
	out.WriteString(wrap(legend(seen, small), width))
	return out.String()
}

// drawPass fills the columns whose middle lies in the pass.
func drawPass(row []byte, x Placed, firstChunk int, scale float64) {
	column := func(t unit.Seconds) int { return min(int(float64(t)*scale+0.5), len(row)) }
	from, to := column(x.Start), column(x.End)
	if from >= to {
		return
	}
	cell := row[from:to]
	long, short := label(x, firstChunk)
	if len(long) > len(cell) {
		long = short
	}
	for i := range cell {
		cell[i] = '-'
	}
	copy(cell, long)
}

// label is a pass in letters, with its numbers and without.
func label(x Placed, firstChunk int) (long, short string) {
	letter := func(p Pass, chunk int) string {
		if chunk != firstChunk {
			return strings.ToLower(p.String())
		}
		return p.String()
	}
	if x.Pass == FB {
		return fmt.Sprintf("%s%d%s%d", letter(F, x.Chunk), x.MicroBatch, letter(B, x.BackChunk), x.BackMicroBatch), "X"
	}
	short = letter(x.Pass, x.Chunk)
	return fmt.Sprint(short, x.MicroBatch), short
}

// wrap breaks a legend between its entries, which two spaces part.
func wrap(s string, width int) string {
	var out strings.Builder
	at := 0
	for i, entry := range strings.Split(s, "  ") {
		switch {
		case i > 0 && at+2+len(entry) > width:
			out.WriteByte('\n')
			at = 0
		case i > 0:
			out.WriteString("  ")
			at += 2
		}
		out.WriteString(entry)
		at += len(entry)
	}
	return out.String() + "\n"
}
