package report

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/mem"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// partText says what each part of memory is.
var partText = [mem.NumParts]string{
	mem.Weights: "weights", mem.Gradients: "gradients", mem.Optimizer: "optimizer states", mem.Activations: "activations",
	mem.Working: "working space", mem.Gathered: "gathered weights", mem.Buffers: "communication", mem.Context: "context and slack",
}

// trainMemory shows the parts on the rank that needs most, as shares of what may
// be used, or of their sum where that is more.
func trainMemory(p *Page, a *api.TrainAnswer) {
	r := a.Best
	if r.Limit <= 0 {
		return
	}
	total := r.Memory.Total()
	where := ""
	if r.Plan.PP > 1 {
		where = fmt.Sprintf(" on pipeline rank %d, which needs most,", r.MemoryRank)
	}
	p.section("Memory per GPU%s and its share of what %s", where, shareOf(r.Fits))
	var qs []Quantity
	for part := range mem.NumParts {
		if n := r.Memory[part]; n > 0 {
			qs = append(qs, Quantity{partText[part], unit.FormatGB(n), float64(n)})
		}
	}
	qs = append(qs, Quantity{"all", unit.FormatGB(total), float64(total)})
	if !r.Fits {
		qs = append(qs, Quantity{"usable", unit.FormatGB(r.Limit), float64(r.Limit)})
	}
	p.Bars(float64(max(total, r.Limit)), qs)
	p.Text(0, "%s", limitText(a, total))
}

func shareOf(fits bool) string {
	if fits {
		return "is usable"
	}
	return "is needed"
}

// limitText compares the total with the limit and the device.
func limitText(a *api.TrainAnswer, total unit.Bytes) string {
	r := a.Best
	s := fmt.Sprintf("Usable: %s", unit.FormatGB(r.Limit))
	if all := a.Request.Cluster.Device.Peak.Memory; all.Known() {
		s += fmt.Sprintf(", %s of the device's %s", unit.FormatPercent(float64(r.Limit)/all.Value), unit.FormatGB(unit.Bytes(all.Value)))
	}
	if total > r.Limit {
		return s + fmt.Sprintf("; %s are missing.", unit.FormatGB(total-r.Limit))
	}
	return s + fmt.Sprintf("; %s stay free.", unit.FormatGB(r.Limit-total))
}
