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
			err = fmt.Errorf("%d MiB long, at most %d: %s", len(line)>>20, maxLine>>20, oneObject)
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

const oneObject = "give one JSON object per line"

// member is a key of an object and its value; numbers stay as they are written.
type member struct {
	key   string
	value any
}

// membersOf reads one JSON object. A key that stands twice is an error: which of the values holds
// is not said.
func membersOf(line []byte) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.Join(err, errors.New("no object: "+oneObject))
	}
	var list []member
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		k, _ := key.(string)
		var v any
		if err == nil {
			err = d.Decode(&v)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, oneObject)
		}
		if seen[k] {
			return nil, fmt.Errorf("key %q stands twice: keep one of them", k)
		}
		seen[k] = true
		list = append(list, member{k, v})
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, oneObject)
	}
	if d.More() {
		return nil, errors.New("more than one value: " + oneObject)
	}
	return list, nil
}

// object is the cells of one JSON object.
func object(line []byte) (map[string]string, error) {
	list, err := membersOf(line)
	if err != nil {
		return nil, err
	}
	o := map[string]string{}
	for _, m := range list {
		switch x := m.value.(type) {
		case nil:
			o[m.key] = ""
		case string:
			o[m.key] = x
		case json.Number:
			o[m.key] = x.String()
		case bool:
			o[m.key] = strconv.FormatBool(x)
		default:
			return nil, fmt.Errorf("column %q is a list or an object: give a number or text", m.key)
		}
	}
	return o, nil
}
