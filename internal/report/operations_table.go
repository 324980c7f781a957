package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// Operations draws one table per distinct layer, its operations grouped by phase.
func Operations(p *Page, a *api.TrainAnswer, rows []train.Row) {
	r := a.Best
	p.Heading("%s on %s, operation by operation", a.Request.Model.Name, a.Request.Cluster.Name)
	p.planLine(2, r.Plan.String())
	p.Text(0, "One rank and one micro-batch of %s tokens%s; each operation alone: lower is at achieved rates "+
		"without overheads, upper with everything at its worst. Bytes are HBM traffic, of a collective the message. "+whatBinds,
		Grouped(int64(r.Plan.MicroBatch)*int64(a.Request.Seq)), sharedBy(r.Plan.TP*r.Plan.CP))
	for _, layer := range layersOf(rows) {
		layerTable(p, layer)
	}
	p.section("Not listed")
	p.Text(0, "The schedule lays these out in time: %s per step over %s, bubble %s. Once per step, or behind the passes: %s.",
		Plural(int64(r.MicroBatches), "micro-batch"), Plural(int64(r.Plan.PP), "pipeline rank"), sec(r.Waits[train.WaitBubble]), onceText(r))
	if !r.Fits {
		p.Text(0, "Note: this plan does not fit: %s of %s usable.", unit.FormatGB(r.Memory.Total()), unit.FormatGB(r.Limit))
	}
}

// sharedBy says how many ranks work on the same tokens.
func sharedBy(ranks int) string {
	if ranks == 1 {
		return ""
	}
	return fmt.Sprintf(", shared by %d ranks", ranks)
}

// onceText names the data-parallel work of the plan, with what of it shows.
func onceText(r *train.Result) string {
	s := "gradient reduction"
	switch {
	case r.Plan.ZeRO >= 3:
		s = "weight gathers and gradient scatters of every layer"
	case r.Plan.ZeRO >= 1:
		s = "gradient scatter and weight gather"
	}
	if r.Plan.Replicas() == 1 {
		s = "no data parallelism"
	}
	return fmt.Sprintf("%s (%s exposed), optimizer (%s)", s, sec(r.Waits[train.WaitDP]), sec(r.Waits[train.WaitOptimizer]))
}

// layersOf cuts the rows at each new layer: where the name changes, or the first
// operation of a layer comes again under the same name.
func layersOf(rows []train.Row) [][]train.Row {
	var list [][]train.Row
	start := 0
	for i := 1; i <= len(rows); i++ {
		if i < len(rows) {
			first, x := &rows[start], &rows[i]
			if x.Layer == first.Layer && !(x.Name == first.Name && x.Part == first.Part && x.Phase == first.Phase) {
				continue
			}
		}
		list = append(list, rows[start:i])
		start = i
	}
	return list
}

// sum adds up rows.
type sum struct {
	flops                  unit.FLOPs
	lower, estimate, upper unit.Seconds
}

func (s *sum) add(r *train.Row) {
	s.flops += r.FLOPs
	s.lower += r.Lower
	s.estimate += r.Estimate
	s.upper += r.Upper
}

func (s *sum) row(name string) []string {
	return []string{name, flopsCell(s.flops), "", "", sec(s.lower), sec(s.estimate), sec(s.upper), ""}
}

// flopsCell leaves the unit to the column's head.
func flopsCell(f unit.FLOPs) string {
	if f == 0 {
		return ""
	}
	return strings.TrimSuffix(unit.FormatFLOPs(f), "FLOP")
}

func layerTable(p *Page, layer []train.Row) {
	p.section("%s", layer[0].Layer)
	var all sum
	var cells [][]string
	for phase := range work.NumPhases {
		var s sum
		var ops [][]string
		for i := range layer {
			if r := &layer[i]; r.Phase == phase {
				s.add(r)
				all.add(r)
				ops = append(ops, opRow(r))
			}
		}
		if len(ops) > 0 {
			cells = append(append(cells, s.row(phase.String())), ops...)
		}
	}
	cells = append(cells, all.row("all phases"))
	p.Table([]Column{Left("operation"), Right("FLOP"), Right("bytes"), Right("FLOP/B"), Right("lower"), Right("estimate"), Right("upper"), Left("binds")}, cells)
	if s := collectives(layer); s != "" {
		p.Text(2, "Algorithms: %s.", s)
	}
}

// collectives names how each collective of the layer runs.
func collectives(layer []train.Row) string {
	var list []string
	for i := range layer {
		r := &layer[i]
		if r.Algorithm == "" {
			continue
		}
		if s := r.Name + " by " + r.Algorithm; !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return strings.Join(list, ", ")
}

func opRow(r *train.Row) []string {
	bytes := r.Bytes
	if r.Algorithm != "" {
		bytes = r.Comm.Bytes
	}
	intensity := ""
	if v := r.Intensity(); v > 0 {
		intensity = strconv.FormatFloat(v, 'f', 0, 64)
	}
	return []string{"  " + opName(r) + padding(r.Padded), flopsCell(r.FLOPs), unit.FormatBytes(bytes), intensity, sec(r.Lower), sec(r.Estimate), sec(r.Upper), r.Bound}
}

// whatBinds explains the last column and the mark of padding.
const whatBinds = "Padded are operations bound by compute most of which multiplies rows that tiles and heads are filled up with. " +
	"Latency is what no rate explains: starts, waits, SMs without a tile, tiles that wait for their loads."

// padding marks the name of an operation that multiplies more padding than its own
// (cost.Price); beside what binds it the page has no room.
func padding(padded bool) string {
	if padded {
		return ", padded"
	}
	return ""
}

// opName qualifies the names that several parts of a layer share.
func opName(r *train.Row) string {
	switch {
	case r.Algorithm != "", strings.HasSuffix(r.Name, "norm"):
		return r.Name
	case r.Part == "shared expert":
		return "shared " + r.Name
	case r.Part == "routed experts":
		return "experts' " + r.Name
	}
	return r.Name
}
