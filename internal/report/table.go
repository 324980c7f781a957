package report

import (
	"strings"
	"unicode/utf8"
)

// Column is a table's column.
type Column struct {
	Head  string
	Right bool // align right: numbers
}

// Left and Right make columns.
func Left(head string) Column  { return Column{Head: head} }
func Right(head string) Column { return Column{Head: head, Right: true} }

const gap = "  " // between columns

// Table prints rows under column heads; heads that are all empty print no head
// line. Columns are as wide as their widest cell; the last one wraps at the
// page's width. An empty cell says that nothing is known or that it does not apply.
func (p *Page) Table(columns []Column, rows [][]string) {
	head := make([]string, len(columns))
	widths := make([]int, len(columns))
	shown := make([][]string, len(rows))
	for k, r := range rows {
		shown[k] = make([]string, len(r))
		for i, c := range r {
			shown[k][i] = harmless(c)
		}
	}
	for i, c := range columns {
		head[i], widths[i] = c.Head, utf8.RuneCountInString(c.Head)
		for _, r := range shown {
			widths[i] = max(widths[i], utf8.RuneCountInString(r[i]))
		}
	}
	if strings.Join(head, "") != "" {
		p.row(columns, widths, head)
	}
	for _, r := range shown {
		p.row(columns, widths, r)
	}
}

// Facts prints label and value pairs, the values aligned and wrapped; pairs
// without a value are left out.
func (p *Page) Facts(pairs ...[2]string) {
	var rows [][]string
	for _, f := range pairs {
		if f[1] != "" {
			rows = append(rows, []string{f[0], f[1]})
		}
	}
	p.Table([]Column{Left(""), Left("")}, rows)
}

func (p *Page) row(columns []Column, widths []int, cells []string) {
	last := len(columns) - 1
	var b strings.Builder
	before := 0
	for i, c := range cells[:last] {
		b.WriteString(pad(c, widths[i], columns[i].Right) + gap)
		before += widths[i] + len(gap)
	}
	if columns[last].Right {
		p.Line("%s", strings.TrimRight(b.String()+pad(cells[last], widths[last], true), " "))
		return
	}
	for i, line := range wrap(cells[last], max(p.Width-before, minLast)) {
		if i == 0 {
			p.Line("%s", strings.TrimRight(b.String()+line, " "))
		} else {
			p.Line("%s%s", strings.Repeat(" ", before), line)
		}
	}
}

// minLast keeps a wrapped last column readable on a page that is too narrow.
const minLast = 20

func pad(s string, width int, right bool) string {
	fill := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
	if right {
		return fill + s
	}
	return s + fill
}
