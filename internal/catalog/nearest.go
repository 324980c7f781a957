package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/note"
)

// nearestCount is how many names a miss suggests; a name longer than
// nearestLength is no misspelling of anything.
const (
	nearestCount  = 3
	nearestLength = 64
)

// nearest returns the names closest to name, the best first, at most three, by
// edit distance in any case. A name that contains the one sought counts as one
// edit away, so that "h1" finds h100; names more than half of name's length
// away are no suggestion.
func nearest(name string, names []string) []string {
	type scored struct {
		name     string
		distance int
	}
	if name == "" || len(name) > nearestLength {
		return nil
	}
	name = strings.ToLower(name)
	var close []scored
	for _, n := range names {
		l := strings.ToLower(n)
		d := editDistance(name, l)
		if strings.HasPrefix(l, name) || strings.Contains(l, name) && len(name) > 2 {
			d = min(d, 1)
		}
		if d <= max(2, len(name)/2) {
			close = append(close, scored{n, d})
		}
	}
	slices.SortStableFunc(close, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(len(a.name), len(b.name)), cmp.Compare(a.name, b.name))
	})
	var out []string
	for _, s := range close[:min(len(close), nearestCount)] {
		out = append(out, s.name)
	}
	return out
}

// Slip is the name of the list that one edit makes of name, which is none of them; "" = none is so near.
func Slip(name string, names []string) string {
	for _, n := range names {
		if editDistance(strings.ToLower(name), strings.ToLower(n)) == 1 {
			return n
		}
	}
	return ""
}

// editDistance is the number of inserted, deleted, replaced or swapped
// neighbouring bytes between a and b (restricted Damerau-Levenshtein).
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replace := last[j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			row[j] = min(last[j]+1, row[j-1]+1, replace)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// maxQuoted bounds how much of a user's input an error repeats.
const maxQuoted = 60

// quote prints a user's input inside an error: one line, bounded.
func quote(s string) string {
	if len(s) > maxQuoted {
		s = strings.ToValidUTF8(s[:maxQuoted], "") + "..."
	}
	return fmt.Sprintf("%q", s)
}

// unknownName is the error of a miss in a catalogue: kind is what was looked
// for, list the command that shows all names.
func unknownName(kind, name string, names []string, list string) error {
	if near := nearest(name, names); len(near) > 0 {
		return note.Faultf(note.UnknownName, "kind name nearest list", "unknown %s %s: nearest are %s (`%s` lists all)", kind, quote(name), strings.Join(near, ", "), list)
	}
	return note.Faultf(note.UnknownName, "kind name list", "unknown %s %s: `%s` lists all", kind, quote(name), list)
}
