package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ridgeline/ridgeline/internal/note"
)

// fields reads one mapping of a machine file key by key. It serves the embedded
// JSON (which is YAML too) and users' YAML alike, so both obey one set of rules
// and every complaint is one line with file, line, key and mend. The first
// complaint wins; done adds the one about keys that nobody asked for.
type fields struct {
	file string // as the user named it
	path string // dotted path of the mapping, empty at the top
	keys map[string]*yaml.Node
	seen map[string]bool
	err  *error // shared by all mappings of a file
	// files tells whether the document may name other files.
	files bool
}

// maxFileBytes bounds a machine file; a cluster takes about 1 kB.
const maxFileBytes = 1 << 20

// parseFields reads the document's top mapping.
func parseFields(file string, data []byte) (*fields, error) {
	if len(data) > maxFileBytes {
		return nil, fmt.Errorf("%s: more than %d bytes: a machine file takes a few kB", file, maxFileBytes)
	}
	var doc, more yaml.Node
	in := yaml.NewDecoder(bytes.NewReader(data))
	if err := in.Decode(&doc); errors.Is(err, io.EOF) || err == nil && len(doc.Content) != 1 {
		return nil, fmt.Errorf("%s: empty file: give at least device and gpus", file)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %s", file, oneLine(err))
	}
	if err := in.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: holds more than one document: give one", file)
	}
	f := &fields{file: file, err: new(error)}
	f.load(doc.Content[0])
	return f, *f.err
}

// oneLine flattens the YAML library's complaints.
func oneLine(err error) string {
	s := strings.TrimPrefix(err.Error(), "yaml: ")
	return strings.Join(strings.Fields(s), " ")
}

// load indexes a mapping node.
func (f *fields) load(n *yaml.Node) {
	f.keys, f.seen = map[string]*yaml.Node{}, map[string]bool{}
	if n.Kind != yaml.MappingNode {
		f.fail(n, "", "is %s, not a mapping of keys", nodeKind(n))
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch _, twice := f.keys[key.Value]; {
		case key.Kind != yaml.ScalarNode || key.Tag != "!!str":
			f.fail(key, "", "has a key that is not a plain word")
		case twice:
			f.fail(key, key.Value, "is given twice: keep one")
		}
		f.keys[key.Value] = n.Content[i+1]
	}
}

// nodeKind names what a node is, for complaints.
func nodeKind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias (write the value out)"
	}
	if n.Tag == "!!null" {
		return "empty"
	}
	return quote(n.Value)
}

// at is the full name of a key.
func (f *fields) at(key string) string {
	return strings.Trim(f.path+"."+key, ".")
}

// fail records the first complaint.
func (f *fields) fail(n *yaml.Node, key, format string, args ...any) {
	if *f.err != nil {
		return
	}
	where := f.file
	if n != nil {
		where += ":" + strconv.Itoa(n.Line)
	}
	name := f.at(key)
	if name == "" {
		name = "the file"
	}
	*f.err = fmt.Errorf("%s: %s %s", where, name, fmt.Sprintf(format, args...))
}

// refuse is fail of a figure, which bears its kind, its key and the values that keys name.
func (f *fields) refuse(n *yaml.Node, key string, c note.Code, keys, format string, args ...any) {
	if *f.err != nil {
		return
	}
	f.fail(n, key, format, args...)
	of := note.New(c, keys, format, args...).With("key", f.at(key))
	of.Text = (*f.err).Error()
	*f.err = &note.Fault{Note: of}
}

// take marks a key as known and returns its node, nil where it is absent.
func (f *fields) take(key string) *yaml.Node {
	f.seen[key] = true
	return f.keys[key]
}

// has tells whether a key is given.
func (f *fields) has(key string) bool { return f.keys[key] != nil }

// list reads the elements of a sequence; nil where absent.
func (f *fields) list(key string) []*yaml.Node {
	n := f.take(key)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		f.fail(n, key, "is %s, not a list", nodeKind(n))
		return nil
	}
	return n.Content
}

// block opens a nested mapping; an absent key gives an empty one.
func (f *fields) block(key string) *fields {
	return f.sub(f.take(key), key)
}

// sub opens a mapping node under a name.
func (f *fields) sub(n *yaml.Node, key string) *fields {
	b := &fields{file: f.file, path: f.at(key), err: f.err}
	if n == nil {
		n = &yaml.Node{Kind: yaml.MappingNode}
	}
	b.load(n)
	return b
}

// done complains about a key that nobody read.
func (f *fields) done() {
	var unknown []string
	for k := range f.keys {
		if !f.seen[k] {
			unknown = append(unknown, k)
		}
	}
	if len(unknown) == 0 {
		return
	}
	slices.Sort(unknown)
	var known []string
	for k := range f.seen {
		known = append(known, k)
	}
	slices.Sort(known)
	mend := "known here: " + strings.Join(known, ", ")
	if near := nearest(unknown[0], known); len(near) > 0 {
		mend = "nearest: " + strings.Join(near, ", ")
	}
	f.fail(f.keys[unknown[0]], "", "has an unknown key %s: %s", quote(unknown[0]), mend)
}
