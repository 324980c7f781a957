package validate

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
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
	text, err := input.Text(r, maxTable)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t := &table{name: name, at: map[string]int{}}
	in := bufio.NewReader(text)
	if first, err := in.Peek(1); err == nil && first[0] == '{' {
		t.in, err = newLines(in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	} else {
		t.in = csv.NewReader(in)
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
		var parse *csv.ParseError
		var line *lineError
		switch {
		case errors.Is(err, csv.ErrFieldCount):
			*bad = append(*bad, Skipped{number, fmt.Sprintf("%d cells under %d columns: give one for each", len(cells), len(t.head))})
			continue
		case errors.As(err, &parse):
			*bad = append(*bad, Skipped{number, fmt.Sprintf("line %d, byte %d: %v: correct the quotes", parse.Line, parse.Column, parse.Err)})
			continue
		case errors.As(err, &line):
			*bad = append(*bad, Skipped{number, line.Error()})
			continue
		case err != nil:
			return fmt.Errorf("%s: %w", t.name, err)
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

// lines are JSON objects, one a line, as rows: the header is all keys in order, what an
// object lacks is an empty cell.
type lines struct {
	head    []string
	objects []map[string]string
	errs    []error
	next    int // 0 = the header
}

// lineError is a line that is no row.
type lineError struct{ error }

func newLines(r io.Reader) (*lines, error) {
	l := &lines{}
	keys := map[string]bool{}
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	for n := 1; in.Scan(); n++ {
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		o, err := object(in.Bytes())
		if err != nil {
			err = &lineError{fmt.Errorf("line %d: %w", n, err)}
		}
		for k := range o {
			keys[k] = true
		}
		l.objects, l.errs = append(l.objects, o), append(l.errs, err)
	}
	l.head = slices.Sorted(maps.Keys(keys))
	return l, in.Err()
}

// Read is the next row.
func (l *lines) Read() ([]string, error) {
	i := l.next - 1
	l.next++
	switch {
	case i < 0:
		return l.head, nil
	case i >= len(l.objects):
		return nil, io.EOF
	case l.errs[i] != nil:
		return nil, l.errs[i]
	}
	cells := make([]string, len(l.head))
	for k, name := range l.head {
		cells[k] = l.objects[i][name]
	}
	return cells, nil
}

// object is the cells of one JSON object; numbers stay as they are written.
func object(line []byte) (map[string]string, error) {
	var raw map[string]any
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&raw); err != nil {
		return nil, fmt.Errorf("%w: give one JSON object per line", err)
	}
	if d.More() {
		return nil, errors.New("more than one value: give one JSON object per line")
	}
	o := map[string]string{}
	for k, v := range raw {
		switch x := v.(type) {
		case nil:
			o[k] = ""
		case string:
			o[k] = x
		case json.Number:
			o[k] = x.String()
		case bool:
			o[k] = strconv.FormatBool(x)
		default:
			return nil, fmt.Errorf("column %q is a list or an object: give a number or text", k)
		}
	}
	return o, nil
}
