package modelfile

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxCount bounds every count that is read, so that a product of two fits int64;
// model.Check has the bound of each size.
const maxCount = 1 << 30

// fields reads typed values from one configuration object. The first error
// stays, and reading goes on with zero values, so that a reader of an
// architecture is a plain list of its fields; finish reports the error. A field
// that is null counts as absent, as in the libraries that wrote it.
type fields struct {
	path string // prefix of nested objects, for messages
	m    map[string]any
	used map[string]bool
	err  error
}

func newFields(path string, m map[string]any) *fields {
	return &fields{path: path, m: m, used: map[string]bool{}}
}

func (f *fields) fail(key, format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf("%s%s %s", f.path, key, fmt.Sprintf(format, args...))
	}
}

// get marks key as understood and returns its value, nil when absent or null.
func (f *fields) get(key string) any {
	f.used[key] = true
	return f.m[key]
}

func (f *fields) has(key string) bool { return f.m[key] != nil }

// first is the first of the keys that is present; synonyms are all understood.
func (f *fields) first(keys ...string) string {
	found := keys[0]
	for i := len(keys) - 1; i >= 0; i-- {
		f.used[keys[i]] = true
		if f.has(keys[i]) {
			found = keys[i]
		}
	}
	return found
}

// size is a required count of at least 1.
func (f *fields) size(keys ...string) int64 {
	key := f.first(keys...)
	if !f.has(key) {
		f.fail(key, "is missing; add it")
		return 1
	}
	return f.count(key, 1, 1)
}

// sizeOr is a count of at least 1, or def when absent.
func (f *fields) sizeOr(def int64, keys ...string) int64 { return f.count(f.first(keys...), def, 1) }

// countOr is a count of at least 0, or def when absent.
func (f *fields) countOr(def int64, keys ...string) int64 { return f.count(f.first(keys...), def, 0) }

func (f *fields) count(key string, def, least int64) int64 {
	v := f.get(key)
	if v == nil {
		return def
	}
	num, ok := v.(json.Number)
	if !ok {
		f.fail(key, "is %s; it must be a whole number", show(v))
		return least
	}
	n, err := num.Int64()
	if most := mostOf(key); err != nil || n < least || n > most {
		f.fail(key, "is %s; it must be a whole number between %d and %d", show(v), least, most)
		return least
	}
	return n
}

func (f *fields) flag(key string, def bool) bool {
	v := f.get(key)
	if v == nil {
		return def
	}
	b, ok := v.(bool)
	if !ok {
		f.fail(key, "is %s; it must be true or false", show(v))
	}
	return b
}

// must requires a switch to have its usual value; mend says what another would mean.
func (f *fields) must(key string, want bool, why string) {
	if got := f.flag(key, want); got != want {
		f.fail(key, "is %t, which is not supported: %s", got, why)
	}
}

func (f *fields) text(key, def string) string {
	v := f.get(key)
	if v == nil {
		return def
	}
	s, ok := v.(string)
	if !ok {
		f.fail(key, "is %s; it must be a string", show(v))
	}
	return s
}

// texts reads a list of strings; a single string is a list of one.
func (f *fields) texts(key string) []string {
	switch v := f.get(key).(type) {
	case nil:
		return nil
	case string:
		return []string{v}
	case []any:
		list := make([]string, 0, len(v))
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				f.fail(key, "holds %s; it must be a list of strings", show(e))
				return nil
			}
			list = append(list, s)
		}
		return list
	default:
		f.fail(key, "is %s; it must be a list of strings", show(v))
		return nil
	}
}

// counts reads a list of whole numbers of at least 0.
func (f *fields) counts(key string) []int64 {
	v := f.get(key)
	if v == nil {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		f.fail(key, "is %s; it must be a list of whole numbers", show(v))
		return nil
	}
	ns := make([]int64, len(list))
	for i, e := range list {
		num, _ := e.(json.Number)
		n, err := num.Int64()
		if err != nil || n < 0 || n > maxCount {
			f.fail(key, "holds %s; it must be a list of whole numbers", show(e))
			return nil
		}
		ns[i] = n
	}
	return ns
}

// object reads a nested object, nil when absent. Its errors join f's in join.
func (f *fields) object(key string) *fields {
	v := f.get(key)
	if v == nil {
		return nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		f.fail(key, "is %s; it must be an object", show(v))
		return nil
	}
	return newFields(f.path+key+".", m)
}

func (f *fields) join(sub *fields) {
	if f.err == nil && sub != nil {
		f.err = sub.err
	}
}

// show prints a value for a message: short, on one line.
func show(v any) string {
	b, err := json.Marshal(v)
	s := string(b)
	if err != nil {
		s = fmt.Sprint(v)
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
	if len(s) > 40 {
		return s[:37] + "..."
	}
	return s
}
