package report

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/launch"
)

// Import prints what a running configuration is in Ridgeline's terms, and what it gives
// where a machine was named.
func Import(p *Page, im *launch.Imported, today *api.TodayAnswer) {
	roles := im.Roles
	if len(roles) == 0 {
		roles = []*launch.Imported{im}
	}
	for i, r := range roles {
		if i > 0 {
			p.Line("")
		}
		importOne(p, r, today == nil)
	}
	if today != nil {
		importToday(p, today)
	}
}

func importOne(p *Page, im *launch.Imported, ask bool) {
	title := im.Engine
	if im.Settings != nil && im.Settings.Role != "" {
		title += " " + im.Settings.Role
	}
	p.Heading("%s, flags checked against %s", title, im.FlagList)
	orNone := func(s string) string {
		if s == "" {
			return "unknown"
		}
		return s
	}
	facts := [][2]string{{"model", orNone(im.Model)}, {"flags", strings.Join(im.Degrees.Flags(im.Engine), " ")}, {"plan", orNone(im.PlanText)}}
	if im.Instances > 1 {
		facts = append(facts, [2]string{"instances", fmt.Sprint(im.Instances)})
	}
	if im.GPUs > 0 {
		facts = append(facts, [2]string{"GPUs", fmt.Sprint(im.GPUs)})
	}
	if len(im.UnknownFlags) > 0 {
		facts = append(facts, [2]string{"unknown", strings.Join(im.UnknownFlags, " ")})
	}
	if len(im.DeprecatedFlags) > 0 {
		facts = append(facts, [2]string{"deprecated", strings.Join(im.DeprecatedFlags, " ")})
	}
	if im.PlanText != "" && ask {
		facts = append(facts, [2]string{"predict", predictCommand(im)})
	}
	p.Facts(facts...)
	for _, v := range im.IllegalValues {
		p.Text(2, "not in the list: %s", v)
	}
}

// predictCommand asks what Ridgeline predicts for an imported plan; without its
// --plan the same question says what would be better.
func predictCommand(im *launch.Imported) string {
	model := im.Model
	if model == "" {
		model = "MODEL"
	}
	gpus := "N"
	if im.GPUs > 0 {
		gpus = fmt.Sprint(im.GPUs)
	}
	if im.Batch != nil {
		return fmt.Sprintf("ridgeline train --model %s --cluster GPUx%s --plan %s --global-batch N --seq N", launch.Quote(model), gpus, im.PlanText)
	}
	return fmt.Sprintf("ridgeline infer --model %s --cluster GPUx%s --plan %s --isl N --osl N", launch.Quote(model), gpus, im.PlanText)
}

// Launch prints what was written where.
func Launch(p *Page, a *api.LaunchAnswer, dir string) {
	p.Heading("%s %s for %s", a.Engine, a.Version, a.Target)
	facts := [][2]string{{"plan", a.Plan}, {"plan hash", a.PlanHash}, {"GPUs", fmt.Sprint(a.GPUs)}}
	for _, f := range a.Files {
		facts = append(facts, [2]string{"wrote", dir + "/" + f.Name})
	}
	if a.Bench != "" {
		facts = append(facts, [2]string{"evaluate", strings.ReplaceAll(a.Bench, " \\\n ", "")})
	}
	p.Facts(facts...)
	for _, n := range a.Notes {
		p.Text(2, "%s", n)
	}
}
