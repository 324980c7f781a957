package launch

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// reader asks a command line and the engine's configuration file for values. The
// first value that is no value is kept in err.
type reader struct {
	line       *argv.Line
	config     map[string]any // TensorRT-LLM's YAML, which overrides its flags
	unresolved []string       // shell variables that hold a value
	err        error
}

// text is what a flag says, "" and false where it says nothing.
func (r *reader) text(flag string) (string, bool) {
	if v, ok := r.config[strings.TrimLeft(flag, "-")]; ok && v != nil {
		return fmt.Sprint(v), true
	}
	return r.line.Get(flag)
}

// size is a degree: unset where the flag is absent, 0 where it holds a variable.
func (r *reader) size(flag string, unset int) int {
	v, given := r.text(flag)
	switch {
	case !given || strings.EqualFold(v, "none") || v == "null" || v == "":
		return unset
	case strings.Contains(v, "$"):
		if !slices.Contains(r.unresolved, v) {
			r.unresolved = append(r.unresolved, v)
		}
		return 0
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 && n != unset || n > maxDegree {
		if r.err == nil {
			r.err = fmt.Errorf("flag %s %q is not a whole number from 1 to %d: mend the value", flag, v, maxDegree)
		}
		return unset
	}
	return n
}

// maxDegree bounds a degree so that products of four stay inside an int64.
const maxDegree = 1 << 16

func (r *reader) on(flag string) bool {
	v, given := r.text(flag)
	return given && !strings.EqualFold(v, "false") && v != "0"
}

// count is a size that is not a degree, such as a length; 0 where it is not known.
func (r *reader) count(flag string) int64 {
	v, given := r.text(flag)
	f := r.line.List.Flag(flag)
	if !given || f == nil {
		return 0
	}
	n, err := f.Int(v)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// key is a key of a JSON flag, given in the object or dotted.
func (r *reader) key(flag, key string) (any, bool) {
	f := r.line.List.Flag(flag)
	for i := len(r.line.Args) - 1; i >= 0 && f != nil; i-- {
		a := &r.line.Args[i]
		if a.Flag != f || len(a.Values) == 0 {
			continue
		}
		if a.Path == key {
			return a.Values[0], true
		}
		var object map[string]any
		if a.Path == "" && json.Unmarshal([]byte(a.Values[0]), &object) == nil {
			if v, ok := object[key]; ok {
				return v, true
			}
		}
	}
	return nil, false
}

// nested is a key below a key of the configuration file.
func (r *reader) nested(outer, key string) (any, bool) {
	m, _ := r.config[outer].(map[string]any)
	v, ok := m[key]
	return v, ok && v != nil
}

// whole reads a number that JSON or YAML gave in whatever type; 0 where it is none.
func whole(v any) int {
	n, err := strconv.ParseFloat(fmt.Sprint(v), 64)
	if err != nil || n < 0 || n > maxDegree {
		return 0
	}
	return int(n)
}

// degrees reads the tables of an engine.
func (r *reader) degrees(engine string) Degrees {
	var d Degrees
	for _, f := range sizes[engine] {
		*f.size(&d) = r.size(f.flag, f.unset)
	}
	for _, f := range switches[engine] {
		*f.on(&d) = r.on(f.flag)
	}
	for _, f := range wordFlags[engine] {
		if v, given := r.text(f.flag); given && v != "none" {
			*f.word(&d) = strings.Trim(v, `'"`) // of Hydra's values
		}
	}
	return d
}
