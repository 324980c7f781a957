package report

import (
	"strings"

	"github.com/ridgeline/ridgeline/internal/api"
)

// Train draws the answer of `train`: the verdict first, then where the step's
// time goes, what memory it takes, what the other plans lack and what would
// change the verdict. Sections without content are left out.
func Train(p *Page, a *api.TrainAnswer) {
	for _, draw := range []func(*Page, *api.TrainAnswer){trainHeader, trainVerdict, trainVersus, trainTime, trainCeilings,
		trainAnatomy, trainMemory, trainRanked, trainRejected, trainFSDP, trainFlips, trainSweep, trainPrecisions, trainBudget, trainNotes} {
		draw(p, a)
	}
}

// section starts a part of the page.
func (p *Page) section(format string, args ...any) {
	p.Line("")
	p.Heading(format, args...)
}

// indented prints a wrapped paragraph, all of it indented.
func (p *Page) indented(indent int, text string) {
	for _, line := range wrap(text, max(p.Width-indent, minLast)) {
		p.Line("%s%s", strings.Repeat(" ", indent), line)
	}
}

// planLine prints a plan as --plan reads it, broken at commas where it is too long.
func (p *Page) planLine(indent int, plan string) {
	p.indented(indent, breakCommas(plan, max(p.Width-indent, minLast)))
}

// planTable prints a table whose last column is plans.
func (p *Page) planTable(columns []Column, rows [][]string) {
	last := len(columns) - 1
	room := p.Width
	for i, c := range columns[:last] {
		w := len(c.Head)
		for _, r := range rows {
			w = max(w, len([]rune(r[i])))
		}
		room -= w + len(gap)
	}
	for _, r := range rows {
		r[last] = breakCommas(r[last], max(room, minLast))
	}
	p.Table(columns, rows)
}

// breakCommas puts a space after those commas and semicolons at which a line of
// width columns has to end, so that wrapping breaks between keys.
func breakCommas(plan string, width int) string {
	var b strings.Builder
	used := 0
	for i, word := range strings.Fields(plan) { // the plan and flags behind it
		var items []string
		for _, role := range strings.SplitAfter(word, ";") { // of a deployment with two roles
			items = append(items, strings.SplitAfter(role, ",")...)
		}
		for k, item := range items {
			switch between := i > 0 && k == 0; {
			case between && used+1+len(item) <= width:
				b.WriteByte(' ')
				used++
			case between || k > 0 && used+len(item) > width: // a new line
				b.WriteByte(' ')
				used = 0
			}
			b.WriteString(item)
			used += len(item)
		}
	}
	return b.String()
}
