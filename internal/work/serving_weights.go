package work

import (
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Stored is the bytes of weights on one rank.
type Stored struct {
	Dense    unit.Bytes // attention, dense and shared FFN, router, norms
	Experts  unit.Bytes // routed
	Absorbed unit.Bytes // MLA's absorbed matrices, kept at 16 bit beside kv_b
}

// Add sums n times o into w.
func (w *Stored) Add(o Stored, n int64) {
	k := unit.Bytes(n)
	w.Dense += k * o.Dense
	w.Experts += k * o.Experts
	w.Absorbed += k * o.Absorbed
}

// Stored counts one rank's share of a layer: matrices split over TP by whole heads
// (with copies where heads are fewer than ranks), experts and their redundant copies
// over EP and ETP, shared experts over TP or, with an exchange, whole; the rest whole.
func (s *Serving) Stored(l *model.Layer) Stored {
	var w Stored
	tp := int64(s.Plan.TP)
	for _, x := range s.Model.Weights(l) {
		switch {
		case x.Role == model.RoleExpert:
			etp := int64(s.Plan.ETP())
			each := s.Experts.Size(x.In*x.Out/etp) + unit.Bytes(biasShare(&x, etp)*bf16)
			w.Experts += unit.Bytes((x.Copies+int64(s.Plan.Redundant))/int64(s.Plan.EP)) * each
		case x.In == 0 || x.Role == model.RoleRouter:
			w.Dense += unit.Bytes(x.Params() * bf16)
		default:
			ranks := tp
			if x.Split == model.SplitNone || (x.Role == model.RoleShared && s.Plan.Exchange()) {
				ranks = 1
			} else if x.Units > 0 {
				ranks = min(ranks, x.Units)
			}
			w.Dense += unit.Bytes(x.Copies) * (s.Weights.Size(x.In*x.Out/ranks) + unit.Bytes(biasShare(&x, ranks)*bf16))
		}
	}
	if a := &l.Attention; a.Kind == model.MLA {
		stored, _ := s.formats(s.AbsorbedLinear)
		w.Absorbed = stored.Size(a.Heads / tp * a.KVRank * (a.QKDim - a.Rope + a.VDim))
	}
	return w
}

// StoredEnds is embedding and head of one rank: of the first and of the last
// pipeline stage.
func (s *Serving) StoredEnds() (embedding, head unit.Bytes) {
	m, tp := s.Model, int64(s.Plan.TP)
	matrix := (m.Vocab + tp - 1) / tp * m.Hidden * bf16
	embedding = unit.Bytes(matrix + m.Positions*m.Hidden*bf16)
	head = unit.Bytes(m.Norm.Params(m.Hidden) * bf16)
	if !m.Tied || s.Plan.PP > 1 {
		stored, _ := s.formats(s.HeadLinear)
		head += stored.Size((m.Vocab + tp - 1) / tp * m.Hidden)
	}
	return embedding, head
}
