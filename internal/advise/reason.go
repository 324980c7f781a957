package advise

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/mem"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Reason says in one line of numbers why r is not the answer. best may be nil
// when nothing fits.
func Reason(r, best *train.Result) string {
	var parts []string
	if !r.Fits {
		parts = append(parts, memoryReason(r))
	}
	if s := linkReason(r); s != "" {
		parts = append(parts, s)
	}
	if best != nil && r.Step > best.Step && (r.Fits || len(parts) == 0) {
		parts = append(parts, slowerReason(r, best))
	}
	if len(parts) == 0 && best != nil {
		parts = append(parts, fmt.Sprintf("no faster: %s against %s", sec(r.Step), sec(best.Step)))
	}
	return strings.Join(parts, "; ")
}

// memoryReason names the two largest parts.
func memoryReason(r *train.Result) string {
	type line struct {
		part mem.Part
		n    unit.Bytes
	}
	var lines []line
	for p := range mem.NumParts {
		lines = append(lines, line{p, r.Memory[p]})
	}
	slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(b.n, a.n) })
	return fmt.Sprintf("does not fit: %s of %s usable, %s %s and %s %s (recompute=%s)", gb(r.Memory.Total()), gb(r.Limit),
		lines[0].part, gb(lines[0].n), lines[1].part, gb(lines[1].n), r.Plan.Recompute)
}

// linkReason is the roofline's verdict: a link that is busy longer than the
// arithmetic leaves GPUs idle however well both overlap.
func linkReason(r *train.Result) string {
	c := &r.Ceilings
	worst, link := c.NVLink, "the scale-up link"
	if c.Network > worst {
		worst, link = c.Network, "the network"
	}
	if worst <= c.Compute {
		return ""
	}
	s := fmt.Sprintf("communication-bound: %s is busy %s per step against %s of compute, whatever overlaps", link, sec(worst), sec(c.Compute))
	if c.NVLink > c.Compute && c.Network > c.Compute {
		s = fmt.Sprintf("communication-bound: scale-up link busy %s and network %s per step against %s of compute, whatever overlaps", sec(c.NVLink), sec(c.Network), sec(c.Compute))
	}
	return s
}

// slowerReason compares steps and names the waits that grew most.
func slowerReason(r, best *train.Result) string {
	type diff struct {
		name string
		t    unit.Seconds
	}
	var diffs []diff
	for w := range train.NumWaits {
		if d := r.Waits[w] - best.Waits[w]; d > 0 {
			diffs = append(diffs, diff{w.String(), d})
		}
	}
	if d := r.Kernels() - best.Kernels(); d > 0 {
		diffs = append(diffs, diff{"kernels", d})
	}
	slices.SortFunc(diffs, func(a, b diff) int { return cmp.Compare(b.t, a.t) })
	var why []string
	for _, d := range diffs[:min(2, len(diffs))] {
		why = append(why, fmt.Sprintf("%s +%s", d.name, sec(d.t)))
	}
	return fmt.Sprintf("%.1f %% slower: %s against %s (%s)", 100*(float64(r.Step/best.Step)-1), sec(r.Step), sec(best.Step), strings.Join(why, ", "))
}

func gb(n unit.Bytes) string { return unit.FormatGB(n) }

func sec(t unit.Seconds) string { return unit.FormatStep(t) }
