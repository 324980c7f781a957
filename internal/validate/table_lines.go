package validate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
)

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

func newLines(text []byte) *lines {
	l := &lines{}
	keys := map[string]bool{}
	for n, line := range bytes.Split(text, []byte("\n")) {
		var o map[string]string
		var err error
		switch {
		case len(bytes.TrimSpace(line)) == 0:
			continue
		case len(line) > maxLine:
			err = fmt.Errorf("%d MiB long, at most %d: give one JSON object per line", len(line)>>20, maxLine>>20)
		default:
			o, err = object(line)
		}
		if err != nil {
			err = &lineError{fmt.Errorf("line %d: %w", n+1, err)}
		}
		for k := range o {
			keys[k] = true
		}
		l.objects, l.errs = append(l.objects, o), append(l.errs, err)
	}
	l.head = slices.Sorted(maps.Keys(keys))
	return l
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

// object is the cells of one JSON object; numbers stay as they are written. A key that
// stands twice is an error: which of the values holds is not said.
func object(line []byte) (map[string]string, error) {
	const mend = "give one JSON object per line"
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.Join(err, errors.New("no object: "+mend))
	}
	o := map[string]string{}
	for d.More() {
		key, err := d.Token()
		k, _ := key.(string)
		var v any
		if err == nil {
			err = d.Decode(&v)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, mend)
		}
		if _, twice := o[k]; twice {
			return nil, fmt.Errorf("column %q stands twice: keep one of them", k)
		}
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
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, mend)
	}
	if d.More() {
		return nil, errors.New("more than one value: " + mend)
	}
	return o, nil
}
