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
	whole := len(im.Roles) > 0 && im.Deployment != "" // of which no role is asked about alone
	for i, r := range roles {
		if i > 0 {
			p.Line("")
		}
		importOne(p, r, today == nil && !whole)
	}
	if today == nil && whole {
		p.Line("")
		p.Facts([2]string{"predict", predictCommand(im)})
	}
	if today != nil {
		importToday(p, im, today)
	}
}

func importOne(p *Page, im *launch.Imported, ask bool) {
	title := im.Engine
	if im.Settings != nil && im.Settings.Role != "" {
		title += " " + im.Settings.Role
	}
	p.Heading("%s, flags checked against %s", title, im.FlagList)
	facts := [][2]string{{"model", orWord(im.Model, "unknown")}, {"flags", strings.Join(im.Degrees.Flags(im.Engine), " ")}, {"plan", orWord(im.PlanText, "unknown")}}
	if text := settingsText(im); text != "" {
		facts = append(facts, [2]string{"settings", text})
	}
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
