package report

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/deploy"
	"github.com/ridgeline/ridgeline/internal/launch"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// ImportDoc is `launch import` in JSON.
type ImportDoc struct {
	*launch.Imported
	Today *TodayDoc `json:"today,omitempty"`
}

// TodayDoc is what an imported configuration gives and what would give more: of a
// service Serving and Better, of a training run Training and BestTraining.
type TodayDoc struct {
	Serving      *PointDoc `json:"serving,omitempty"`
	Better       *PointDoc `json:"better,omitempty"` // absent where no layout gives more
	Gain         float64   `json:"output_per_gpu_ratio,omitempty"`
	Training     *PlanDoc  `json:"training,omitempty"`
	BestTraining *PlanDoc  `json:"best_training,omitempty"`
	WhyNot       string    `json:"why_not,omitempty"`
	Notes        []string  `json:"notes"`
	Warnings     []string  `json:"warnings"`
}

// NewImportDoc builds the document.
func NewImportDoc(im *launch.Imported, a *api.TodayAnswer) ImportDoc {
	d := ImportDoc{Imported: im}
	if a == nil {
		return d
	}
	t := &TodayDoc{Notes: orEmpty(a.Notes), Warnings: []string{}}
	if d.Today = t; a.Training != nil {
		today := planDoc(a.Training, a.Training.Best)
		t.Training, t.WhyNot = &today, a.Training.WhyNot
		if o := a.Training.Overall; o != nil {
			best := planDoc(a.Training, o)
			t.BestTraining = &best
		}
		t.Warnings = a.Training.Warnings.Texts()
		return d
	}
	today := pointDoc(a.Serving, a.Serving.Best.Variant, a.Serving.Best.Best)
	t.Serving, t.Warnings = &today, a.Serving.Warnings.Texts()
	if b := better(a); b != nil {
		doc := pointDoc(a.Better, a.Better.Best.Variant, b)
		t.Better, t.Gain = &doc, a.Gain()
	}
	return d
}

// least gain per GPU that is called better: less is within what a prediction resolves.
const leastGain = 1.02

// better is the layout that gives more than today's, nil where none does.
func better(a *api.TodayAnswer) *deploy.Point {
	b := a.Better.Best.Best
	if !a.Better.Met() || a.Serving.Best.Best.Fits && a.Gain() < leastGain {
		return nil
	}
	return b
}

// importToday answers what the imported configuration gives, and what would give more.
func importToday(p *Page, im *launch.Imported, a *api.TodayAnswer) {
	if a.Training != nil {
		todayTraining(p, a.Training)
	} else {
		todayServing(p, im, a)
	}
	for _, n := range a.Notes {
		p.Text(2, "note: %s", n)
	}
}

func todayServing(p *Page, im *launch.Imported, a *api.TodayAnswer) {
	today, b := a.Serving.Best.Best, better(a)
	r := a.Serving.Request
	p.section("What it gives on %s, %s of %s + %s tokens in flight", r.Clusters[0].Name, Plural(int64(today.Concurrency), "request"), Grouped(r.ISL), Grouped(r.OSL))
	points, heads := []*deploy.Point{today}, []Column{Left(""), Right("today")}
	if b != nil {
		points, heads = append(points, b), append(heads, Right("better"))
	}
	rows := make([][]string, 0, 8)
	row := func(name string, of func(*deploy.Point) string) {
		cells := []string{name}
		for _, x := range points {
			cells = append(cells, of(x))
		}
		rows = append(rows, cells)
	}
	timed := func(of func(*deploy.Point) string) func(*deploy.Point) string {
		return func(x *deploy.Point) string {
			if !x.Fits {
				return "-"
			}
			return of(x)
		}
	}
	row("fits", func(x *deploy.Point) string { return yes(x.Fits) })
	row("GPUs", func(x *deploy.Point) string { return Grouped(int64(x.Layout.GPUs())) })
	row("first token", timed(func(x *deploy.Point) string { return unit.FormatSeconds(x.TTFT) }))
	row("per token", timed(func(x *deploy.Point) string { return unit.FormatSeconds(x.TPOT) }))
	row("output tokens/s", timed(func(x *deploy.Point) string { return rate(x.Output) }))
	row("  per GPU", timed(func(x *deploy.Point) string { return rate(x.PerGPU()) }))
	row("bound by", timed(func(x *deploy.Point) string { return x.Bound }))
	row("caches hold", timed(func(x *deploy.Point) string { return Plural(x.Most, "request") }))
	p.Table(heads, rows)
	p.Line("")
	p.Line("today:")
	withWords := func(x *deploy.Point, r *api.InferRequest) string {
		return strings.Join(append([]string{x.String()}, inferWords(r)...), " ")
	}
	p.planLine(2, withWords(today, r))
	switch {
	case b != nil && !today.Fits:
		p.Text(0, "It needs %s more per GPU than there is. What serves this load with the most output per GPU:", unit.FormatGB(today.Lacks()))
		p.planLine(2, withWords(b, a.Better.Request))
	case b != nil:
		p.Line("better, at the same load with %s:", keeping(a))
		p.planLine(2, withWords(b, a.Better.Request))
		p.Text(0, "That is %.2f times the output of a GPU. This writes it:", a.Gain())
		p.indented(2, launchWords(im, a.Better.Request, b))
	case !today.Fits:
		p.Text(0, "It needs %s more per GPU than there is, and no layout of %s serves this load.", unit.FormatGB(today.Lacks()), r.Clusters[0].Name)
	default:
		p.Text(0, "No layout of %s gives %.0f %% more output per GPU at this load with %s.", r.Clusters[0].Name, 100*(leastGain-1), keeping(a))
	}
}

// keeping is what the better layout keeps.
func keeping(a *api.TodayAnswer) string {
	if slo, p := a.Better.Request.SLO, a.Serving.Best.Best; slo != (deploy.SLO{TTFT: p.TTFT, TPOT: p.TPOT}) {
		return slo.String()
	}
	return "no user waiting longer"
}

func todayTraining(p *Page, a *api.TrainAnswer) {
	r := a.Request
	p.section("What it gives on %s, %s of %s tokens per step", r.Cluster.Name, Plural(int64(r.GlobalBatch), "sequence"), Grouped(int64(r.Seq)))
	b := a.Best
	if !b.Fits {
		p.Text(0, "It does not fit: it needs %s of the %s usable per GPU.", unit.FormatGB(b.Memory.Total()), unit.FormatGB(b.Limit))
	}
	p.planLine(2, b.Plan.String())
	p.Facts([2]string{"step", unit.FormatSeconds(b.Step)}, [2]string{"MFU", unit.FormatPercent(b.MFU())},
		[2]string{"tokens/s per GPU", rate(b.TokensPerSecondPerGPU())}, [2]string{"bound by", boundName(b.Bound)},
		[2]string{"memory per GPU", fmt.Sprintf("%s of %s", unit.FormatGB(b.Memory.Total()), unit.FormatGB(b.Limit))})
	trainVersus(p, a)
}
