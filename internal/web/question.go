package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/spf13/pflag"

	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/note"
)

// fields is the body of a question: a JSON object whose members are the flags of
// the command line, with underscores. Values are texts with units, numbers,
// true or false, and lists of those, which stand for commas.
type fields struct {
	of  map[string]json.RawMessage
	err error // of the body, kept for fill: huma would flatten it
}

// UnmarshalJSON reads one object; a name that comes twice is refused, since
// parsers disagree on which one counts.
func (f *fields) UnmarshalJSON(data []byte) error {
	if first := bytes.TrimSpace(data); len(first) == 0 || first[0] != '{' {
		f.err = problem(http.StatusBadRequest, "the body is no JSON object: send the fields of the question")
		return nil
	}
	var twice *twiceError
	var err error
	if f.of, err = members(data); errors.As(err, &twice) {
		f.err = badInput(&note.About{Field: twice.name, Err: err})
		return nil
	}
	return err
}

// twiceError is a name that an object holds twice.
type twiceError struct{ name string }

func (e *twiceError) Error() string { return fmt.Sprintf("%q is given twice: keep one", e.name) }

// members are those of a JSON object.
func members(object []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil { // the brace
		return nil, err
	}
	of := map[string]json.RawMessage{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		name := t.(string) // a decoder gives no other key
		if _, twice := of[name]; twice {
			return nil, &twiceError{name}
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, err
		}
		of[name] = raw
	}
	return of, nil
}

// fill sets the flags that the fields name; hidden ones do not exist here. What
// only a file could hold is put into find.
func (f fields) fill(fs *pflag.FlagSet, find *finder, hidden ...string) error {
	if f.err != nil {
		return f.err
	}
	for _, name := range f.names() {
		flag := fs.Lookup(strings.ReplaceAll(name, "_", "-"))
		if flag == nil || strings.Contains(name, "-") || slices.Contains(hidden, flag.Name) {
			return &note.About{Field: name, Err: ask.UnknownWord("field", name, fieldsOf(fs, hidden), "/docs lists the fields")}
		}
		if flag.Value.Type() == "bool" && !slices.Contains([]string{"true", "false", "null"}, string(f.of[name])) {
			return &note.About{Field: name, Err: fmt.Errorf("%s: write true or false, without quotes", name)}
		}
		text, given, err := find.text(flag.Name, f.of[name])
		if err != nil {
			return &note.About{Field: name, Err: fmt.Errorf("%s: %w", name, err)}
		}
		if !given {
			continue
		}
		if err := fs.Set(flag.Name, text); err != nil {
			return &note.About{Field: name, Err: fmt.Errorf("%s: %w", name, valueError(err, text, flag))}
		}
	}
	return nil
}

// names are sorted, so that the same request is refused for the same reason.
func (f fields) names() []string {
	names := make([]string, 0, len(f.of))
	for n := range f.of {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// valueError is the parser's own error without pflag's frame.
func valueError(err error, text string, flag *pflag.Flag) error {
	var invalid *pflag.InvalidValueError
	var plain *strconv.NumError
	switch {
	case errors.As(err, &plain):
		return fmt.Errorf("%q is not of type %s: /docs lists the fields", text, flag.Value.Type())
	case errors.As(err, &invalid):
		return errors.Unwrap(invalid)
	}
	return err
}

// fieldsOf are the names that a question takes.
func fieldsOf(fs *pflag.FlagSet, hidden []string) (names []string) {
	fs.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(hidden, f.Name) {
			names = append(names, underscored(f.Name))
		}
	})
	return names
}

// schemaOf describes a question's fields as its flags describe themselves.
func schemaOf(fs *pflag.FlagSet, required []string, hidden ...string) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: false, Required: required}
	fs.VisitAll(func(f *pflag.Flag) {
		if slices.Contains(hidden, f.Name) {
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		p := &huma.Schema{Description: fieldNames(usage)}
		text := &huma.Schema{Type: huma.TypeString, Description: "as the command line takes it, units included"}
		switch {
		case f.Value.Type() == "bool":
			p.Type = huma.TypeBoolean
		case f.Name == "model":
			p.OneOf = []*huma.Schema{text, {Type: huma.TypeObject, Description: "a Hugging Face config.json as it is", AdditionalProperties: true}}
		case f.Name == "cluster":
			object := &huma.Schema{Type: huma.TypeObject, Description: "a cluster with the keys of a cluster file, docs/formats.md", AdditionalProperties: true}
			p.OneOf = []*huma.Schema{text, object}
			if name == "LIST" {
				p.OneOf = append(p.OneOf, &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{OneOf: []*huma.Schema{text, object}}})
			}
		case f.Name == "turn":
			p.OneOf = []*huma.Schema{text, {Type: huma.TypeObject, Description: "a factor for each figure", AdditionalProperties: &huma.Schema{Type: huma.TypeNumber}}}
		case f.Name == "plan" || f.Name == "against":
			p.OneOf = []*huma.Schema{text, {Type: huma.TypeObject, Description: "the keys as answers state them", AdditionalProperties: true}}
		default:
			p.OneOf = []*huma.Schema{text, {Type: huma.TypeNumber}}
			if name == "LIST" {
				p.OneOf = append(p.OneOf, &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{OneOf: []*huma.Schema{text, {Type: huma.TypeNumber}}}})
			}
		}
		s.Properties[underscored(f.Name)] = p
	})
	return s
}
