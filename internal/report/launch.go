package report

import (
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/launch"
)

// Import prints what a running configuration is in Ridgeline's terms.
func Import(p *Page, im *launch.Imported) {
	if len(im.Roles) == 0 {
		importOne(p, im)
		return
	}
	for i, r := range im.Roles {
		if i > 0 {
			p.Line("")
		}
		importOne(p, r)
	}
}

func importOne(p *Page, im *launch.Imported) {
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
	if im.GPUs > 0 {
		facts = append(facts, [2]string{"GPUs", fmt.Sprint(im.GPUs)})
	}
	if len(im.UnknownFlags) > 0 {
		facts = append(facts, [2]string{"unknown", strings.Join(im.UnknownFlags, " ")})
	}
	if len(im.DeprecatedFlags) > 0 {
		facts = append(facts, [2]string{"deprecated", strings.Join(im.DeprecatedFlags, " ")})
	}
	p.Facts(facts...)
	for _, v := range im.IllegalValues {
		p.Text(2, "not in the list: %s", v)
	}
}
