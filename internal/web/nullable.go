package web

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

const schemaPrefix = "#/components/schemas/"

// sayNulls adds null to the fields and list items that are maps or pointers to
// structs and may be null in an answer: huma describes only what they hold.
func sayNulls(r huma.Registry) {
	for name, s := range r.Map() {
		t := r.TypeFromRef(schemaPrefix + name)
		for t != nil && t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}
		for _, f := range reflect.VisibleFields(t) {
			field, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			p := s.Properties[field]
			switch {
			case p == nil:
			case (toStruct(f.Type) || f.Type.Kind() == reflect.Map) && !strings.Contains(options, "omitempty"):
				s.Properties[field] = orNull(p)
			case f.Type.Kind() == reflect.Slice && toStruct(f.Type.Elem()) && p.Items != nil:
				p.Items = orNull(p.Items)
			}
		}
		s.PrecomputeMessages()
	}
}

func toStruct(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
}

func orNull(s *huma.Schema) *huma.Schema {
	n := &huma.Schema{OneOf: []*huma.Schema{s, {Type: "null"}}}
	n.PrecomputeMessages()
	return n
}
