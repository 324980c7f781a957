package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// waitText words the waits.
var waitText = [train.NumWaits]string{
	train.WaitTP: "wait: tensor parallel", train.WaitCP: "wait: context parallel", train.WaitEP: "wait: expert parallel",
	train.WaitDP: "wait: data parallel", train.WaitPP: "wait: pipeline sends", train.WaitLinks: "wait: shared links",
	train.WaitBubble: "pipeline bubble", train.WaitOptimizer: "optimizer",
}

// trainTime shares the step out over what the busiest rank does with it.
func trainTime(p *Page, a *api.TrainAnswer) {
	r := a.Best
	p.section("Where the step's %s go, on the busiest rank", sec(r.Step))
	qs := []Quantity{{"kernels", sec(r.Kernels()), float64(r.Kernels())}}
	for w := range train.NumWaits {
		if t := r.Waits[w]; t >= least {
			qs = append(qs, Quantity{waitText[w], sec(t), float64(t)})
		}
	}
	p.Bars(float64(r.Step), qs)
	p.Text(0, "Kernels are matrix products at the rates of their shapes, and memory-bound operations.")
}

// ceiling is one resource's seconds.
type ceiling struct {
	name string
	t    unit.Seconds
}

// ceilings lists the resources that are used at all, the longest first.
func ceilings(c *train.Ceilings) []ceiling {
	list := []ceiling{{"compute", c.Compute}, {"HBM", c.HBM}, {"scale-up link", c.NVLink}, {"network", c.Network}}
	list = slices.DeleteFunc(list, func(x ceiling) bool { return x.t <= 0 })
	slices.SortStableFunc(list, func(a, b ceiling) int { return cmp.Compare(b.t, a.t) })
	return list
}

// trainCeilings prints the speed of light of each resource.
func trainCeilings(p *Page, a *api.TrainAnswer) {
	list := ceilings(&a.Best.Ceilings)
	if len(list) == 0 {
		return
	}
	p.section("Speed of light: each resource alone at its achieved rate, seconds per step")
	var qs []Quantity
	for _, x := range list {
		qs = append(qs, Quantity{x.name, sec(x.t), float64(x.t)})
	}
	p.Bars(float64(list[0].t), qs)
	var s strings.Builder
	if len(list) > 1 {
		fmt.Fprintf(&s, "The next bound is %s, at %s of %s. ", list[1].name, unit.FormatPercent(float64(list[1].t/list[0].t)), list[0].name)
	}
	c := &a.Best.Ceilings
	if busy := max(c.NVLink, c.Network); busy > 0 && c.Compute > 0 {
		fmt.Fprintf(&s, "Communication : compute = %.2f : 1 on the busier link.", float64(busy/c.Compute))
	}
	if s.Len() > 0 {
		p.Text(0, "%s", s.String())
	}
}

// passes are the anatomy's rows, with the keys of published runs.
func passes(n *train.Anatomy) []struct {
	name, key string
	t         unit.Seconds
} {
	return []struct {
		name, key string
		t         unit.Seconds
	}{{"forward alone (F)", "forward", n.Forward}, {"backward alone (B)", "backward", n.Backward}, {"weight gradient alone (W)", "weight", n.Weight},
		{"overlapped pairs (FB)", "pairs", n.Pairs}, {"bubble", "bubble", n.Bubble}, {"optimizer", "optimizer", n.Optimizer}}
}

// trainAnatomy shows the mean rank by kind of pass; beside the published
// figures where the layout is the published one.
func trainAnatomy(p *Page, a *api.TrainAnswer) {
	r, pub := a.Best, a.Published
	if pub != nil && sameLayout(r.Plan.String(), pub.Plan) {
		publishedAnatomy(p, r, pub)
		return
	}
	var parts []string
	for _, x := range passes(&r.Anatomy) {
		if x.t >= least {
			parts = append(parts, x.name+" "+sec(x.t))
		}
	}
	p.section("Anatomy of the mean rank")
	p.Text(0, "%s", strings.Join(parts, ", "))
	if pub != nil {
		p.Text(0, "A run of this job was published: %s per step (%s). To hold the prediction against it, name its layout:", sec(unit.Seconds(pub.Step)), pub.Source)
		p.planLine(2, "--plan "+pub.Plan)
	}
}

func publishedAnatomy(p *Page, r *train.Result, pub *catalog.PublishedRun) {
	p.section("Anatomy of the mean rank, beside the published run of this layout")
	var rows [][]string
	add := func(name string, t unit.Seconds, known float64) {
		row := []string{name, sec(t), "", ""}
		if known > 0 {
			row[2], row[3] = sec(unit.Seconds(known)), fmt.Sprintf("%+.1f %%", 100*(float64(t)/known-1))
		}
		rows = append(rows, row)
	}
	for _, x := range passes(&r.Anatomy) {
		if x.t >= least || pub.Anatomy[x.key] > 0 {
			add(x.name, x.t, pub.Anatomy[x.key])
		}
	}
	add("step", r.Step, pub.Step)
	p.Table([]Column{Left(""), Right("predicted"), Right("published"), Right("difference")}, rows)
	p.Text(0, "Published in %s; %s. It enters no prediction.", pub.Source, pub.Note)
}

// sameLayout tells whether plan has the published keys, and no other degree
// beside those of data parallelism.
func sameLayout(plan, published string) bool {
	have, want := strings.Split(plan, ","), strings.Split(published, ",")
	for _, item := range want {
		if !slices.Contains(have, item) {
			return false
		}
	}
	for _, item := range have {
		key, _, _ := strings.Cut(item, "=")
		if (key == "tp" || key == "cp" || key == "vpp") && !slices.Contains(want, item) {
			return false
		}
	}
	return true
}
