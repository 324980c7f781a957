package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Devices prints the catalogue of GPUs, one line each, peak beside achieved.
func Devices(p *Page, devices []*hw.Device) {
	p.Text(0, "Peak (datasheet) | achieved (measured), dense TFLOP/s (BF16, or FP16 where that is missing), memory and link GB/s. Links per GPU and direction; NIC is the default between nodes. F/B, the ridge point: FLOP per byte of memory at which 16-bit compute and memory take equally long, at peak. Empty: nobody published it.")
	p.Line("")
	rows := make([][]string, len(devices))
	for i, d := range devices {
		k, a := &d.Peak, &d.Achieved
		sixteen := unit.BF16
		if !k.Matrix[unit.BF16].Known() {
			sixteen = unit.FP16 // Volta and Turing
		}
		rows[i] = []string{d.Name, plain(k.Memory, 1e9),
			both(k.Matrix[sixteen], a.Matrix[sixteen], 1e12), both(k.Matrix[unit.FP8], a.Matrix[unit.FP8], 1e12),
			both(k.HBM, a.HBM, 1e9), both(k.ScaleUp, a.ScaleUp, 1e9), plain(d.DefaultNode.NIC, 1e9), ridge(d, sixteen)}
	}
	p.Table([]Column{Left("name"), Right("GB"), Left("16-bit"), Left("FP8"), Left("HBM GB/s"), Left("link GB/s"), Right("NIC"), Right("F/B")}, rows)
	p.Line("")
	p.Line("%d entries; `ridgeline gpus NAME` shows one with its sources.", len(devices))
}

// ridge is a device's ridge point; "" where it is not known.
func ridge(d *hw.Device, f unit.Format) string {
	if r := d.Ridge(f); r > 0 {
		return strconv.FormatFloat(r, 'f', 0, 64)
	}
	return ""
}

// plain prints a figure without its unit; "" where it is absent.
func plain(f hw.Figure, scale float64) string {
	if !f.Known() {
		return ""
	}
	return strconv.FormatFloat(f.Value/scale, 'g', 4, 64)
}

// both prints two figures around a bar that stands in the same column on every line.
func both(peak, achieved hw.Figure, scale float64) string {
	if !peak.Known() && !achieved.Known() {
		return ""
	}
	return strings.TrimRight(fmt.Sprintf("%5s | %s", plain(peak, scale), plain(achieved, scale)), " ")
}

// deviceFigure is one row of a device: the same quantity as datasheets state it
// and as software reached it.
type deviceFigure struct {
	name, si       string
	peak, achieved hw.Figure
}

// deviceFigures lists what is known of a device.
func deviceFigures(d *hw.Device) []deviceFigure {
	var all []deviceFigure
	for f := range unit.NumFormats {
		si := "FLOP/s"
		if f == unit.INT8 || f == unit.INT4 {
			si = "OP/s"
		}
		all = append(all, deviceFigure{f.String() + " matrix", si, d.Peak.Matrix[f], d.Achieved.Matrix[f]})
	}
	none := hw.Figure{}
	all = append(all,
		deviceFigure{"attention forward", "FLOP/s", none, d.Achieved.AttentionFwd},
		deviceFigure{"attention backward", "FLOP/s", none, d.Achieved.AttentionBwd},
		deviceFigure{"memory", "B", d.Peak.Memory, d.Achieved.Memory},
		deviceFigure{"memory bandwidth", "B/s", d.Peak.HBM, d.Achieved.HBM},
		deviceFigure{"scale-up link", "B/s", d.Peak.ScaleUp, d.Achieved.ScaleUp},
		deviceFigure{"scale-up all-reduce busbw", "B/s", none, d.Achieved.ScaleUpReduce},
		deviceFigure{"host link", "B/s", d.Peak.HostLink, d.Achieved.HostLink},
		deviceFigure{"NIC", "B/s", d.DefaultNode.NIC, d.Achieved.NIC},
		deviceFigure{"NIC latency", "s", d.DefaultNode.NICLatency, none},
		deviceFigure{"board power", "W", d.Peak.TDP, none})
	var known []deviceFigure
	for _, f := range all {
		if f.peak.Known() || f.achieved.Known() {
			known = append(known, f)
		}
	}
	return known
}

// Device prints one GPU with peak and achieved side by side and every source.
func Device(p *Page, d *hw.Device) {
	p.Heading("%s", d.Name)
	clock := ""
	if d.BoostHz > 0 {
		clock = fmt.Sprintf("%.2f GHz", d.BoostHz/1e9)
	}
	sms := ""
	if d.SMs > 0 {
		sms = strconv.FormatInt(d.SMs, 10)
	}
	p.Facts([2]string{"also called", strings.Join(d.Aliases, ", ")}, [2]string{"vendor, architecture", d.Vendor + ", " + d.Arch},
		[2]string{"SMs or compute units", sms}, [2]string{"boost clock", clock},
		[2]string{"default node", nodeText(&d.DefaultNode, &d.DefaultFabric)}, [2]string{"peak figures from", d.Peak.Confidence.String()})
	p.Line("")
	var sources citations
	var rows [][]string
	for _, f := range deviceFigures(d) {
		grade := ""
		if f.achieved.Known() {
			grade = f.achieved.Grade.String()
		}
		rows = append(rows, []string{f.name, formatFigure(f.peak, f.si), formatFigure(f.achieved, f.si), share(f.achieved, f.peak), grade,
			cited(&sources, f.peak, f.achieved)})
	}
	p.Table([]Column{Left("figure"), Right("peak"), Right("achieved"), Right("share"), Left("grade"), Left("source")}, rows)
	if len(d.Others) > 0 {
		p.Line("")
		p.Heading("Further measurements, not used for planning")
		rows = rows[:0]
		for _, r := range d.Others {
			rows = append(rows, []string{r.Quantity, formatFigure(r.Figure, siOf(r.Unit)), r.Figure.Source})
		}
		p.Table([]Column{Left("figure"), Right("value"), Left("source (conditions)")}, rows)
	}
	p.Line("")
	p.Heading("Sources")
	sources.print(p)
	if d.Notes != "" {
		p.Line("")
		p.Text(6, "Note: %s", d.Notes)
	}
}

// siOf maps the unit words of hw.Reading to those of formatFigure.
func siOf(word string) string {
	switch word {
	case "bytes/s":
		return "B/s"
	case "seconds":
		return "s"
	}
	return word
}

// cited prints the source numbers of a row as [1] [2].
func cited(sources *citations, figures ...hw.Figure) string {
	var marks []string
	for _, f := range figures {
		if mark := sources.cite(f.Source); mark != "" && f.Known() {
			marks = append(marks, "["+mark+"]")
		}
	}
	return strings.Join(marks, " ")
}

// nodeText describes a node and its network in words.
func nodeText(n *hw.NodeSpec, fabric *hw.Fabric) string {
	s := Plural(n.GPUs, "GPU")
	if n.ScaleUpKind != "" {
		s += " on " + n.ScaleUpKind
	}
	if n.NIC.Known() {
		s += ", " + formatFigure(n.NIC, "B/s") + " of " + n.NICKind + " per GPU"
		if n.SharedNIC {
			s += " (one shared NIC)"
		}
		if fabric.Rails {
			s += ", rails"
		}
		if fabric.Oversubscription > 1 {
			s += fmt.Sprintf(", oversubscribed %g to 1", fabric.Oversubscription)
		}
	}
	return s
}
