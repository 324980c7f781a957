package validate

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ridgeline/ridgeline/internal/input"
)

// maxTable bounds a table's bytes; published ones have some hundred kB.
const maxTable = 64 << 20

// table is rows under a header, of CSV or of JSON lines.
type table struct {
	name string
	head []string
	at   map[string]int // column to cell; optional columns may be absent
	in   interface{ Read() ([]string, error) }
}

// openTable reads the header of a table, CSV or JSON lines in UTF-8 with or without a byte
// order mark. name is the table's in errors, which take one line. A column that is needed
// and missing, or one that is read and stands twice, is an error; others are ignored.
func openTable(r io.Reader, name string, needed, optional []string) (*table, error) {
	in, err := input.Text(r, maxTable)
	var text []byte
	if err == nil {
		text, err = io.ReadAll(in)
	}
	if err == nil && bytes.IndexByte(text, '\n') < 0 && bytes.IndexByte(text, '\r') >= 0 {
		err = errors.New("its lines end in CR alone, as on old Macs: save it with line feeds (LF)")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t := &table{name: name, at: map[string]int{}}
	switch start := bytes.TrimLeft(text, " \t\r\n"); {
	case bytes.HasPrefix(start, []byte("[")):
		return nil, fmt.Errorf("%s: a JSON array: give one JSON object per line, without [ ] around them and commas between", name)
	case bytes.HasPrefix(start, []byte("{")):
		t.in = newLines(text)
	default:
		t.in = &csvLines{lines: strings.Split(string(text), "\n")}
	}
	t.head, err = t.in.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: the table is empty: give CSV or JSON lines with the columns %s", name, strings.Join(needed, " "))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var lacks []string
	for _, c := range slices.Concat(needed, optional) {
		i := slices.Index(t.head, c)
		switch {
		case i >= 0 && slices.Contains(t.head[i+1:], c):
			return nil, fmt.Errorf("%s: column %q stands twice: keep one of them", name, c)
		case i >= 0:
			t.at[c] = i
		case slices.Contains(needed, c):
			lacks = append(lacks, c)
		}
	}
	if len(lacks) > 0 {
		verb := "is"
		if len(lacks) > 1 {
			verb = "are"
		}
		return nil, fmt.Errorf("%s: %s %s missing: the header needs %s%s", name, columnsNamed(lacks), verb, strings.Join(needed, " "), separatedBy(t.head))
	}
	return t, nil
}

// separatedBy is a hint where a header was cut at no comma.
func separatedBy(head []string) string {
	if len(head) == 1 && strings.ContainsAny(head[0], ";\t") {
		return ", separated by commas"
	}
	return ""
}

// each calls read on every row and lists those in bad that make no sense; read gives the
// row's id and leaves its complaint in the row. A table without rows is an error.
func (t *table) each(read func(w *row) (id string), bad *[]Skipped) error {
	seen := map[string]bool{}
	n := 0
	for {
		cells, err := t.in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		n++
		number := "row " + strconv.Itoa(n)
		var line *lineError
		switch {
		case errors.As(err, &line):
			*bad = append(*bad, Skipped{number, line.Error()})
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", t.name, err)
		case len(cells) != len(t.head):
			*bad = append(*bad, Skipped{number, fmt.Sprintf("%d cells under %d columns: give one for each", len(cells), len(t.head))})
			continue
		}
		w := row{cells: cells, at: t.at}
		if id := w.cell("id"); id != "" && seen[id] {
			w.fail("column \"id\" is %q twice: give each row its own", id)
		} else {
			seen[id] = true
		}
		id := read(&w)
		if w.err != nil {
			*bad = append(*bad, Skipped{printable(cmp.Or(id, number)), w.err.Error()})
		}
	}
	if n == 0 {
		return fmt.Errorf("%s: the table has a header and no rows: add runs", t.name)
	}
	return nil
}

// printable is text without what would steer a terminal.
func printable(s string) string {
	if strings.ContainsFunc(s, unicode.IsControl) || !utf8.ValidString(s) {
		return strconv.Quote(s)
	}
	return s
}
