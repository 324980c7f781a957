package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/validate"
)

// rangesBlock is the 80 % ranges that answers state, as factors on the predicted time.
func rangesBlock() string {
	between := func(low, high float64) string { return fmt.Sprintf("%.3g to %.3g", low, high) }
	rows := [][]string{
		{"training step, dense", "has runs", between(train.DenseRange[0], train.DenseRange[1])},
		{"training step, mixture of experts", "has runs", between(train.MoERange[0], train.MoERange[1])},
		{"training step, dense", "has none", between(train.DenseStrangerRange[0], train.DenseStrangerRange[1])},
		{"training step, mixture of experts", "has none", between(train.MoEStrangerRange[0], train.MoEStrangerRange[1])},
	}
	for _, r := range infer.AllRanges() {
		gpu := "has measured kernels"
		if !r.Measured {
			gpu = "has none"
		}
		if r.Engine != "" {
			gpu = "any; an engine without runs"
		}
		rows = append(rows, []string{"TPOT", gpu, between(r.TPOT.Low, r.TPOT.High)}, []string{"TTFT", gpu, between(r.TTFT.Low, r.TTFT.High)})
	}
	return markdown([]string{"time", "the GPU", "measured over predicted, four in five"}, rows)
}

// writtenLine says when the stored errors were made.
func writtenLine(s *validate.LeftOutServing) string {
	var words []string
	for _, c := range s.Cuts {
		words = append(words, leftOutWord(c.LeftOut)+" on "+c.Written)
	}
	return "Fitted anew for each part left out: " + strings.Join(words, ", ") + "."
}

// servingLeftOutRows are the cells of the stored errors of serving runs left out.
func servingLeftOutRows(s *validate.LeftOutServing) [][]string {
	var rows [][]string
	for i := range s.Cuts {
		for k := range s.Cuts[i].Groups {
			g := &s.Cuts[i].Groups[k]
			which := g.Key["which"]
			if which == "each" {
				which = "all"
			}
			cells := []string{leftOutWord(s.Cuts[i].LeftOut), which, strconv.Itoa(g.N), percent(g.MedianAPE), percent(g.MAPE), fmt.Sprintf("%+.1f %%", 100*g.Bias), holding(g.Coverage), "", "", ""}
			if t := g.TTFT; t != nil {
				cells[7], cells[8], cells[9] = percent(t.MedianAPE), percent(t.MAPE), holding(t.Coverage)
			}
			rows = append(rows, cells)
		}
	}
	return rows
}

// holding is a share's text, empty where it is not known.
func holding(v *float64) string {
	if v == nil {
		return ""
	}
	return percent(*v)
}

// requestHalves are the cells of the stored errors of replayed runs whose half was left out.
func requestHalves(a *validate.Accuracy) [][]string {
	var rows [][]string
	for _, r := range a.Requests {
		for _, l := range validate.StoredLeftOutRequests() {
			if l.Run != r.Run || l.Parts[len(l.Parts)-1].N != r.Rows {
				continue
			}
			for _, p := range l.Parts {
				rows = append(rows, []string{l.Run, p.Part, strconv.Itoa(p.N), percent(p.TPOT), percent(p.TTFT), percent(p.Late)})
			}
		}
	}
	return rows
}
