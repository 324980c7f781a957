package report

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/mem"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// inferMemory shows the parts on the fullest GPU.
func inferMemory(p *Page, a *api.InferAnswer) {
	b := a.Best.Best
	m := &b.Memory
	if m.Budget <= 0 {
		return
	}
	where := ""
	if b.Layout.Split == nil && b.Layout.PP > 1 {
		where = fmt.Sprintf(" on pipeline stage %d, which has least room,", m.Stage)
	}
	p.section("Memory per GPU%s and its share of what %s", where, shareOf(b.Fits))
	var qs []Quantity
	for part := range mem.NumServingParts {
		if n := m.Parts[part]; n > 0 {
			qs = append(qs, Quantity{part.String(), unit.FormatGB(n), float64(n)})
		}
	}
	p.Bars(float64(max(m.Budget, b.Need)), qs)
	s := fmt.Sprintf("Usable: %s, %s of the device's %s; the KV cache takes what the rest leaves.", unit.FormatGB(m.Budget),
		unit.FormatPercent(float64(m.Budget)/float64(m.Device)), unit.FormatGB(m.Device))
	if !b.Fits {
		s = fmt.Sprintf("Usable: %s, %s of the device's %s; %s are missing.", unit.FormatGB(m.Budget),
			unit.FormatPercent(float64(m.Budget)/float64(m.Device)), unit.FormatGB(m.Device), unit.FormatGB(b.Lacks()))
	}
	if b.Fits {
		s += fmt.Sprintf(" It holds %s tokens over the service, %s of %s tokens at once.", Grouped(b.Tokens), Plural(b.Most, "request"),
			Grouped(a.Request.ISL+a.Request.OSL))
	}
	p.Text(0, "%s", s)
}
