package tune

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// shows is how much faster than memory a working set is read that the caches hold a
// part of: above what repeats of the probe differ by.
const shows = 1.1

// cached notes the models whose weights the machine's caches hold in part: what others
// on the machine leave of a cache changes by the minute, and with it their steps.
func (o *Outcome) cached(d *hw.Device, points []point) {
	said := map[string]bool{}
	for i := range points {
		p := &points[i]
		edge := cacheEdge(d.Kernels.Streams, p.format)
		if p.result.What != "decode" || p.set >= edge || said[p.model.Name] {
			continue
		}
		said[p.model.Name] = true
		o.Notes = append(o.Notes, fmt.Sprintf("%s: its steps read %s of weights, of which this machine's caches hold a part (they show up to %s): the fit is surer with a model above that",
			p.model.Name, unit.FormatBytes(unit.Bytes(p.set)), unit.FormatBytes(unit.Bytes(edge))))
	}
}

// cacheEdge is the largest working set that is read faster than the largest of all; 0
// where caches do not show.
func cacheEdge(list []hw.Stream, f unit.Format) float64 {
	var last hw.Stream
	for _, s := range list {
		if s.Format == f && s.Bytes > last.Bytes {
			last = s
		}
	}
	edge := 0.0
	for _, s := range list {
		if s.Format == f && s.Rate > shows*last.Rate {
			edge = max(edge, s.Bytes)
		}
	}
	return edge
}
