package infer

import "github.com/ridgeline/ridgeline/internal/model"

// layers groups equal layers and spreads them over the pipeline's stages in order,
// as evenly as they divide.
func (e *Engine) layers() {
	m, pp := e.setup.Model, e.setup.Plan.PP
	of := make([]int, len(m.Layers))
	for i := range m.Layers {
		l := &m.Layers[i]
		at := -1
		for k := range e.kinds {
			if same(e.kinds[k].layer, l) {
				at = k
				break
			}
		}
		if at < 0 {
			at = len(e.kinds)
			e.kinds = append(e.kinds, kind{layer: l})
		}
		e.kinds[at].count++
		of[i] = at
	}
	e.stages = make([]stage, pp)
	for i := range e.stages {
		c := make([]int64, len(e.kinds))
		for _, k := range of[i*len(of)/pp : (i+1)*len(of)/pp] {
			c[k]++
		}
		e.stages[i].count = c
	}
	e.stages[pp-1].mtp = min(e.setup.MTP, len(m.MTP))
}

// same compares two layers by value.
func same(a, b *model.Layer) bool {
	x, y := *a, *b
	if (x.Attention.Indexer == nil) != (y.Attention.Indexer == nil) {
		return false
	}
	if x.Attention.Indexer != nil && *x.Attention.Indexer != *y.Attention.Indexer {
		return false
	}
	x.Attention.Indexer, y.Attention.Indexer = nil, nil
	return x == y
}
