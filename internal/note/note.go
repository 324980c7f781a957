// Package note holds sentences that stand beside an answer: what a reader should
// doubt and what was assumed for want of a measurement. A note is worded in English
// where it is made and bears its kind and its figures, so that another face may word
// it in another language without reading the sentence.
package note

import (
	"fmt"
	"slices"
	"strings"
)

// Code is the kind of a note. Each is listed in codes.go.
type Code string

// Note is one sentence.
type Note struct {
	Code   Code           `json:"code" doc:"the kind of sentence"`
	Text   string         `json:"text" doc:"the sentence in English, as in warnings or assumptions"`
	Values map[string]any `json:"values,omitempty" doc:"figures and names that a wording of the kind needs; SI units, shares of 1"`
}

// New words a note. Keys name the values of args in their order, separated by
// spaces; args beyond the keys, and those named _, are only part of the wording.
func New(c Code, keys, format string, args ...any) Note {
	n := Note{Code: c, Text: fmt.Sprintf(format, args...)}
	for i, key := range strings.Fields(keys) {
		if key != "_" {
			n = n.With(key, args[i])
		}
	}
	return n
}

// With adds a value that the sentence states in other words, such as bytes that it
// states in GB. What prints itself is a name and becomes a text.
func (n Note) With(key string, v any) Note {
	if s, ok := v.(fmt.Stringer); ok {
		v = s.String()
	}
	values := map[string]any{key: v}
	for k, x := range n.Values {
		values[k] = x
	}
	n.Values = values
	return n
}

// List is notes in the order in which they are told.
type List []Note

// Say adds a note, worded as by New.
func (l *List) Say(c Code, keys, format string, args ...any) {
	*l = append(*l, New(c, keys, format, args...))
}

// Texts are the sentences in English, never nil.
func (l List) Texts() []string {
	texts := make([]string, len(l))
	for i := range l {
		texts[i] = l[i].Text
	}
	return texts
}

// Has tells whether the sentence is told already.
func (l List) Has(text string) bool {
	return slices.ContainsFunc(l, func(n Note) bool { return n.Text == text })
}

// And is the list with more notes behind it; the list itself stays as it is.
func (l List) And(more ...Note) List { return slices.Concat(l, more) }
