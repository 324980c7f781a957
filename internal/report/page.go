// Package report formats answers for people and programs: text that fits 100
// columns, and JSON. It is the only package that lays out tables and bars; it
// decides how a number looks, never what it is.
package report

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// The widths a page may have: what a pipe gets, and the narrowest that tables keep to.
const (
	defaultWidth = 100
	minWidth     = 60
)

// Page writes text for people. The first write error sticks and Flush returns
// it, so that callers need not check each line.
type Page struct {
	Width int  // columns
	Bold  bool // headings may use bold: only on a terminal
	w     *bufio.Writer
}

// NewPage makes a page as wide as the terminal behind w, at least 60 columns, or
// 100 columns where w is no terminal. Escape sequences are used on terminals
// only, and never where NO_COLOR is set (no-color.org).
func NewPage(w io.Writer) *Page {
	p := &Page{Width: defaultWidth, w: bufio.NewWriter(w)}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.Bold = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		if cols, _, err := term.GetSize(int(f.Fd())); err == nil {
			p.Width = max(cols, minWidth)
		}
	}
	return p
}

// Flush writes what is buffered and returns the first error of the page.
func (p *Page) Flush() error { return p.w.Flush() }

// Line prints one line as it is, but for what would steer a terminal.
func (p *Page) Line(format string, args ...any) {
	p.w.WriteString(harmlessLines(fmt.Sprintf(format+"\n", args...)))
}

// Heading prints a line that starts a section.
func (p *Page) Heading(format string, args ...any) {
	text := harmless(fmt.Sprintf(format, args...))
	if p.Bold {
		text = "\x1b[1m" + text + "\x1b[0m"
	}
	p.w.WriteString(text + "\n")
}

// Text prints a paragraph, wrapped at words; lines after the first are indented
// by indent columns.
func (p *Page) Text(indent int, format string, args ...any) {
	pad := strings.Repeat(" ", indent)
	for i, line := range wrap(harmless(fmt.Sprintf(format, args...)), p.Width-indent) {
		if i > 0 {
			line = pad + line
		}
		p.Line("%s", line)
	}
}

// wrap splits s at spaces into lines of at most width columns; a word that is
// longer, such as a path, is broken after a slash, or anywhere.
func wrap(s string, width int) []string {
	var lines []string
	line, used := "", 0
	words := strings.Fields(s)
	for i := 0; i < len(words); i++ {
		word := words[i]
		if head, tail := breakWord(word, width); tail != "" {
			word = head
			words[i], i = tail, i-1
		}
		n := utf8.RuneCountInString(word)
		if line != "" && used+1+n > width {
			lines, line, used = append(lines, line), "", 0
		}
		if line != "" {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+n
	}
	return append(lines, line)
}

// breakWord cuts a word after width columns or, where there is one in the latter
// half, after the last slash before; tail is empty where the word fits.
func breakWord(word string, width int) (head, tail string) {
	r := []rune(word)
	if len(r) <= width {
		return word, ""
	}
	cut := max(width, 1)
	for i := width; i > width/2; i-- {
		if r[i-1] == '/' {
			cut = i
			break
		}
	}
	return string(r[:cut]), string(r[cut:])
}
