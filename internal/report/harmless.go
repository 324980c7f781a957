package report

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// harmless is text without what would steer a terminal or break a line, each such character as Go
// writes it: names and words of files and services stand in reports.
func harmless(s string) string { return escaped(s, unicode.IsControl) }

// harmlessLines is harmless that keeps the ends of lines and tabs.
func harmlessLines(s string) string {
	return escaped(s, func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) })
}

func escaped(s string, steers func(rune) bool) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, steers) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case steers(r):
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			b.WriteString("?")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
