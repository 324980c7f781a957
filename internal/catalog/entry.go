package catalog

import (
	"reflect"

	"github.com/ridgeline/ridgeline/internal/model"
)

// Entry is the catalogue's entry of a model, nil where it has none: the
// name alone does not do, since a user's file may bear it with other shapes.
func Entry(m *model.Model) *ModelEntry {
	for _, e := range Models() {
		if e.Model.Name == m.Name && sameShapes(e.Model, m) {
			return &e
		}
	}
	return nil
}

// sameShapes tells whether two models are the same but for where they come from
// and how their weights are stored.
func sameShapes(a, b *model.Model) bool {
	x, y := *a, *b
	for _, m := range []*model.Model{&x, &y} {
		m.HFID, m.Architecture, m.Source, m.Unsupported, m.Checkpoint = "", "", "", nil, model.Checkpoint{}
	}
	return reflect.DeepEqual(x, y)
}
