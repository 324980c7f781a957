package report

import (
	"fmt"

	"github.com/ridgeline/ridgeline/internal/netlab"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// NetlabDoc is what a proxy carried, and over what.
type NetlabDoc struct {
	To          string      `json:"to"`
	Up          NetlabShape `json:"up"`
	Down        NetlabShape `json:"down"`
	Connections int64       `json:"connections"`
	Refused     int64       `json:"refused"`
}

// NetlabShape is one direction and the bytes that took it.
type NetlabShape struct {
	Delay  float64  `json:"delay_seconds"`
	Jitter float64  `json:"jitter_seconds"`
	Rate   *float64 `json:"bytes_per_second"` // null without a limit
	Bytes  int64    `json:"bytes"`
}

// NewNetlabDoc sums a proxy up for programs.
func NewNetlabDoc(to string, l netlab.Link, s netlab.Stats) *NetlabDoc {
	shape := func(s netlab.Shape, n int64) NetlabShape {
		d := NetlabShape{Delay: s.Delay.Seconds(), Jitter: s.Jitter.Seconds(), Bytes: n}
		if s.Rate > 0 {
			d.Rate = &s.Rate
		}
		return d
	}
	return &NetlabDoc{To: to, Up: shape(l.Up, s.Up), Down: shape(l.Down, s.Down), Connections: s.Connections, Refused: s.Refused}
}

// Netlab says what a proxy carried.
func Netlab(p *Page, to string, l netlab.Link, s netlab.Stats) {
	p.Heading("link to %s", to)
	line := func(s netlab.Shape, n int64) string {
		text := unit.FormatBytes(unit.Bytes(n)) + " in " + unit.FormatStep(unit.Seconds(s.Delay.Seconds()))
		if s.Jitter > 0 {
			text += " +- " + unit.FormatStep(unit.Seconds(s.Jitter.Seconds()))
		}
		if s.Rate > 0 {
			text += " at " + unit.FormatByteRate(unit.ByteRate(s.Rate))
		}
		return text
	}
	refused := ""
	if s.Refused > 0 {
		refused = fmt.Sprintf(", %s that the target did not take", Grouped(s.Refused))
	}
	p.Facts([2]string{"connections", Grouped(s.Connections) + refused}, [2]string{"to the target", line(l.Up, s.Up)}, [2]string{"back", line(l.Down, s.Down)})
}
