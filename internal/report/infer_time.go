package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// inferTime shares a decode step out over what it does.
func inferTime(p *Page, a *api.InferAnswer) {
	b := a.Best.Best
	s := &b.Decode
	if !b.Fits || s.Total <= 0 {
		return
	}
	p.section("Where a decode step's %s go, %s generating on one instance", unit.FormatSeconds(s.Total), Plural(int64(b.Batch), "sequence"))
	p.Bars(float64(s.Total), stepParts(s))
	p.Text(0, "At least %s, every resource overlapped; at most %s. Each resource alone at its achieved rate:", unit.FormatSeconds(s.Floor), unit.FormatSeconds(s.Upper))
	var qs []Quantity
	padded := unit.Seconds(0)
	if s.Padded() {
		padded = s.Pipes
	}
	for _, x := range []struct {
		name string
		t    unit.Seconds
	}{{"memory bandwidth", s.HBM}, {"compute", s.Compute}, {"with padding", padded}, {"scale-up link", s.NVLink}, {"network", s.Network}, {"network latency", s.Wire}} {
		if x.t > 0 {
			qs = append(qs, Quantity{x.name, unit.FormatSeconds(x.t), float64(x.t)})
		}
	}
	p.Bars(float64(s.Total), qs)
	if b.Wire > 0 {
		p.Text(0, "%s of the time per token waits on the latency between nodes, the waits of prompts read meanwhile not counted.", unit.FormatPercent(b.Wire))
	}
}

// inferBounds states limits that hold whatever the engine does: of one device, and of
// the expert exchange alone.
func inferBounds(p *Page, a *api.InferAnswer) {
	v := a.Best.Variant
	if a.Streaming > 0 {
		p.section("Bounds to compare with")
		p.Text(0, "One %s that streams the %s parameters of a token once, as %s at the datasheet's rate: %s tokens/s.",
			v.Cluster.Device.Name, unit.FormatCount(infer.StreamedParams(a.Request.Model)), v.Weights, decimal(a.Streaming, 1))
	}
	if len(a.Ceilings) == 0 {
		return
	}
	p.Text(0, "Dispatch and combine of the experts alone, at the link's nominal rate, two micro-batches through all layers; below this plan %s tokens counted as in arXiv:2505.09343 section 2.3.2, called published where model and link are its own:",
		Grouped(a.Ceilings[len(a.Ceilings)-1].Tokens))
	var rows [][]string
	for i := range a.Ceilings {
		c := &a.Ceilings[i]
		rows = append(rows, []string{exchangeName(c), Grouped(c.Tokens), Grouped(c.Hidden), strconv.FormatInt(c.Copies, 10), decimal(c.Bytes, 2), unit.FormatByteRate(c.Rate),
			unit.FormatSeconds(c.Pair()), unit.FormatSeconds(c.Step()), rate(c.PerUser())})
	}
	p.Table([]Column{Left("exchange"), Right("tokens/GPU"), Right("hidden"), Right("copies"), Right("bytes"), Right("link"), Right("pair"), Right("step"), Right("tok/s/user")}, rows)
}

// exchangeName tells the plan's own exchange, the paper's, and others counted like it apart.
func exchangeName(c *infer.Ceiling) string {
	switch {
	case !c.Example:
		return "this plan"
	case c.Published():
		return "published"
	}
	return "counted alike"
}

// stepParts are the parts of a step that take time.
func stepParts(s *infer.Step) (qs []Quantity) {
	for part := range infer.NumParts {
		if t := s.Parts[part]; t >= least {
			qs = append(qs, Quantity{part.String(), unit.FormatSeconds(t), float64(t)})
		}
	}
	return qs
}

// inferFlips says from which batch each part of a decode step is compute-bound.
func inferFlips(p *Page, a *api.InferAnswer) {
	if len(a.Flips) == 0 {
		return
	}
	p.section("What binds each part of a decode step, by sequences generating on one instance")
	var rows [][]string
	for _, f := range a.Flips {
		rows = append(rows, []string{f.Part.String(), f.Now.String(), boundFrom(&f, int64(a.Best.Best.Batch), int64(a.FlipsTo))})
	}
	p.Table([]Column{Left("part"), Left("at " + Grouped(int64(a.Best.Best.Batch))), Left("compute-bound")}, rows)
	p.Text(0, "Compute counts rows that tiles and heads are filled up with; it exceeds memory traffic from the batch on that stands behind. Below, a larger batch is nearly free: throughput grows with it. Above, it costs its time.")
}

// boundFrom is from which batch a part is compute-bound, of those up to most that were looked
// at. Tiles that are hardly filled may bind it at fewer sequences already, such as now.
func boundFrom(f *api.Flip, now, most int64) string {
	switch here := f.Now == cost.Compute; {
	case f.Batch == 0 && here:
		return fmt.Sprintf("here, not throughout up to %s", Grouped(most))
	case f.Batch == 0:
		return fmt.Sprintf("not up to %s", Grouped(most))
	case f.Batch > now && here:
		return fmt.Sprintf("here, throughout from %s", Grouped(f.Batch))
	case f.Batch <= now && f.Now == cost.Latency:
		return fmt.Sprintf("from %s, waits and launches aside", Grouped(f.Batch))
	}
	return "from " + Grouped(f.Batch)
}

// inferSpeculation says where drafting pays on the best layout.
func inferSpeculation(p *Page, a *api.InferAnswer) {
	for i := range a.Drafting {
		d := &a.Drafting[i]
		p.section("Speculation %s: %.2f tokens per step, against its cost", d.Speculation, d.Speculation.Tokens())
		var rows [][]string
		for _, x := range d.Curve {
			rows = append(rows, []string{Grouped(int64(x.Batch)), unit.FormatSeconds(x.Plain.Total), unit.FormatSeconds(x.Spec.Total),
				"x " + decimal(x.Cost, 2), "x " + decimal(x.Speedup, 2), x.Grew.String()})
		}
		p.Table([]Column{Right("sequences"), Right("step without"), Right("with"), Right("cost"), Right("speed of decoding"), Left("grows most")}, rows)
		p.Text(0, "%s", draftingText(d))
	}
}

func draftingText(d *api.Drafting) string {
	v := infer.Verdict(d.Curve)
	parts := []string{fmt.Sprintf("It gains most at %s: x %.2f.", Plural(int64(v.Best.Batch), "sequence"), v.Best.Speedup)}
	if v.Fades > 0 {
		parts = append(parts, fmt.Sprintf("From %s half of that gain is gone.", Grouped(int64(v.Fades))))
	}
	switch {
	case v.Gains > 0:
		parts = append(parts, fmt.Sprintf("From %s it is a loss, from %s it pays again.", Grouped(int64(v.Loses)), Grouped(int64(v.Gains))))
	case v.Loses > 0:
		parts = append(parts, fmt.Sprintf("From %s it is a loss.", Grouped(int64(v.Loses))))
	default:
		parts = append(parts, fmt.Sprintf("It is no loss up to %s; least is x %.2f at %s.", Grouped(int64(d.Curve[len(d.Curve)-1].Batch)), v.Worst.Speedup, Grouped(int64(v.Worst.Batch))))
	}
	if d.With != nil {
		parts = append(parts, fmt.Sprintf("The service loses by it from %s in flight on: %s output tokens/s instead of %s, the first token after %s instead of %s.", Plural(int64(d.With.Concurrency), "request"),
			rate(d.With.Output), rate(d.Without.Output), unit.FormatSeconds(d.With.TTFT), unit.FormatSeconds(d.Without.TTFT)))
	}
	if l := d.Limits; l != nil {
		parts = append(parts, fmt.Sprintf("While it drafts this version of the engine generates for at most %d sequences of a replica at once, others wait (--max-sequences lifts that), and its scheduler adds %s to a step. %s: %s.",
			l.Sequences, unit.FormatPercent(l.Unhidden), l.Grade, l.Source))
	}
	return strings.Join(parts, " ")
}

// inferLatency shows what added latency between nodes costs the best layout.
func inferLatency(p *Page, a *api.InferAnswer) {
	if len(a.Latency) == 0 {
		return
	}
	p.section("Network latency: the best layout against the round trip between nodes")
	var rows [][]string
	for _, x := range a.Latency {
		rows = append(rows, []string{unit.FormatSeconds(x.RTT), unit.FormatSeconds(x.Point.TPOT), rate(x.Point.PerUser()), fmt.Sprintf("%+.0f %%", 100*x.Change),
			unit.FormatPercent(x.Point.Wire)})
	}
	p.Table([]Column{Right("round trip"), Right("TPOT"), Right("tok/s/user"), Right("change"), Right("on the wire")}, rows)
	text := fmt.Sprintf("A token waits for half a round trip %.0f times.", a.Latency[len(a.Latency)-1].Exchanges)
	if c := a.Best.Calibration; c != nil {
		text += " " + calibratedText(c)
	}
	p.Text(0, "%s", text)
}

// calibratedText says what measured points corrected.
func calibratedText(c *infer.Calibration) string {
	return fmt.Sprintf("Calibrated on %s: %s per token added to what the model gives, each wait taken %.2f times.",
		Plural(int64(len(c.Points)), "measured point"), unit.FormatSeconds(c.Extra), c.Slope)
}

// inferNotes lists doubts: warnings first, then what was assumed for want of a
// measurement.
func inferNotes(p *Page, a *api.InferAnswer) {
	rows := noteRows(nil, "warning", a.Warnings.Texts())
	rows = noteRows(rows, "left out", a.Request.Model.Unsupported)
	rows = noteRows(rows, "assumed", a.Best.Best.Assumptions.Texts())
	if len(rows) == 0 {
		return
	}
	p.section("Notes")
	p.Table([]Column{Left(""), Left("")}, rows)
}
