package report

import (
	"slices"
	"strconv"

	"github.com/ridgeline/ridgeline/internal/sched"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Schedule draws a layout of equal stages in letters and sums it up.
func Schedule(p *Page, s *sched.Spec, l *sched.Layout) {
	p.Heading("%s: %s, %s", l.Kind, Plural(int64(s.Stages), "stage"), Plural(int64(s.MicroBatches), "micro-batch"))
	p.Line("")
	p.Line("%s", sched.Letters(l, p.Width))
	t := &s.Times
	p.Facts([2]string{"step", unit.FormatSeconds(l.Step)},
		[2]string{"bubble rate", unit.FormatPercent(l.BubbleRate()) + pairNote(s)},
		[2]string{"per chunk", "F " + unit.FormatSeconds(t.F[0]) + ", B " + unit.FormatSeconds(t.B[0]) + ", W " + unit.FormatSeconds(t.W[0])})
	p.Line("")
	rows := make([][]string, len(l.Ranks))
	most := slices.Max(l.PeakActivations)
	for r, held := range l.PeakActivations {
		rows[r] = []string{strconv.Itoa(r), unit.FormatSeconds(l.Idle(r)), unit.FormatPercent(float64(l.Idle(r) / l.Step)),
			strconv.FormatFloat(held, 'f', 2, 64), Bar(held/most, heldWidth)}
	}
	p.Table([]Column{Right("stage"), Right("idle"), Right("of step"), Right("micro-batches held"), Left("")}, rows)
}

// pairNote says how pairs of a length of their own count in the bubble rate.
func pairNote(s *sched.Spec) string {
	if s.Times.Pair == nil {
		return ""
	}
	return " (an overlapped pair counts as F + B + W, so the rate can fall below the idle share)"
}

// heldWidth is the longest bar of held micro-batches; the table fits 60 columns with it.
const heldWidth = 14

// ScheduleDoc is a layout in JSON; times in seconds from the first start.
type ScheduleDoc struct {
	Name            string      `json:"name"`
	Step            float64     `json:"step_seconds"`
	End             float64     `json:"end_seconds"`
	BubbleRate      float64     `json:"bubble_rate"`
	PeakActivations []float64   `json:"peak_activations"`
	Stages          [][]PassDoc `json:"stages"`
}

// PassDoc is one pass of a stage. Of an FB the backward half has its own chunk
// and micro-batch.
type PassDoc struct {
	Pass           string  `json:"pass"`
	MicroBatch     int     `json:"microbatch"`
	Chunk          int     `json:"chunk"`
	BackMicroBatch *int    `json:"backward_microbatch,omitempty"`
	BackChunk      *int    `json:"backward_chunk,omitempty"`
	Start          float64 `json:"start"`
	End            float64 `json:"end"`
}

// NewScheduleDoc describes a layout.
func NewScheduleDoc(l *sched.Layout) *ScheduleDoc {
	doc := &ScheduleDoc{l.Kind.String(), float64(l.Step), float64(l.End), l.BubbleRate(), l.PeakActivations, make([][]PassDoc, len(l.Ranks))}
	for r, passes := range l.Ranks {
		doc.Stages[r] = make([]PassDoc, len(passes))
		for i := range passes {
			x := &passes[i]
			d := PassDoc{Pass: x.Pass.String(), MicroBatch: x.MicroBatch, Chunk: x.Chunk, Start: float64(x.Start), End: float64(x.End)}
			if x.Pass == sched.FB {
				d.BackMicroBatch, d.BackChunk = &x.BackMicroBatch, &x.BackChunk
			}
			doc.Stages[r][i] = d
		}
	}
	return doc
}
