package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/record"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Record prints what was measured, on what, and how far repeats spread.
func Record(p *Page, rec *record.Record) {
	m := &rec.Machine
	memory := ""
	if m.MemoryBytes > 0 {
		memory = unit.FormatBytes(unit.Bytes(m.MemoryBytes))
	}
	p.Heading("Measured by %s", rec.Tool)
	p.Facts([2]string{"host", m.Host}, [2]string{"system", m.System}, [2]string{"cpu", strings.TrimSpace(m.CPU + cores(m.Cores))}, [2]string{"memory", memory},
		[2]string{"gpus", counted(m.GPUs)}, [2]string{"driver", m.Driver}, [2]string{"libraries", strings.Join(m.Libraries, ", ")}, [2]string{"source", rec.Source})
	p.Line("")
	var rows [][]string
	for i := range rec.Results {
		if !ofVector(&rec.Results[i]) {
			rows = append(rows, resultCells(&rec.Results[i]))
		}
	}
	p.Table([]Column{Left("kind"), Left("what"), Left("on"), Right("median"), Right("best"), Right("spread"), Right("share"), Left("how")}, rows)
	workingSets(p, rec)
	for _, n := range rec.Notes {
		p.Text(2, "note: %s", n)
	}
	if rec.Partial {
		p.Line("interrupted: not all was measured")
	}
}

// ofVector tells of products of one row, which have a table of their own.
func ofVector(r *record.Result) bool { return r.What == record.GEMV || r.What == record.ShortGEMV }

// workingSets prints the best rates of products of one row: a line per working set, or per
// length of rows within the caches, and a column per format.
func workingSets(p *Page, rec *record.Record) {
	type key struct {
		threads int
		bytes   int64 // rounded: formats divide a set into their own blocks
		columns int64 // of short rows, else 0
	}
	var formats []string
	var sets []key
	cells := map[key]map[string]string{}
	for i := range rec.Results {
		r := &rec.Results[i]
		if !ofVector(r) {
			continue
		}
		k := key{r.Threads, (r.Bytes + 1<<19) >> 20, 0}
		if r.What == record.ShortGEMV {
			k.bytes, k.columns = 0, r.K
		}
		if cells[k] == nil {
			cells[k], sets = map[string]string{}, append(sets, k)
		}
		if !slices.Contains(formats, r.Format) {
			formats = append(formats, r.Format)
		}
		cells[k][r.Format] = inSI(max(r.Best, r.Value), r.Unit)
	}
	if len(sets) == 0 {
		return
	}
	p.Line("")
	p.Line("Weights times one vector: bytes of weights a second, best repeat")
	columns := []Column{Left("threads"), Right("working set")}
	for _, f := range formats {
		columns = append(columns, Right(f))
	}
	var rows [][]string
	for _, k := range sets {
		set := fmt.Sprintf("%d MiB", k.bytes)
		if k.columns > 0 {
			set = fmt.Sprintf("rows of %d", k.columns)
		}
		row := []string{strconv.Itoa(k.threads), set}
		for _, f := range formats {
			row = append(row, cells[k][f])
		}
		rows = append(rows, row)
	}
	p.Table(columns, rows)
}

func cores(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s)", Plural(int64(n), "core"))
}

// counted joins equal names: 8 x NVIDIA H100.
func counted(names []string) string {
	var out []string
	for i := 0; i < len(names); {
		n := 1
		for i+n < len(names) && names[i+n] == names[i] {
			n++
		}
		out = append(out, fmt.Sprintf("%d x %s", n, names[i]))
		i += n
	}
	return strings.Join(out, ", ")
}

func resultCells(r *record.Result) []string {
	on := r.Device
	for _, c := range []struct {
		n    int
		noun string
	}{{r.Threads, "thread"}, {r.Ranks, "rank"}, {r.Batch, "sequence"}} {
		if c.n > 0 {
			on = strings.TrimSpace(on + " " + Plural(int64(c.n), c.noun))
		}
	}
	best, spread, share := "", "", ""
	if r.Repeats > 1 && r.Best > 0 { // what a document of bench holds states neither
		best, spread = inSI(r.Best, r.Unit), percent(r.Spread)
	}
	if r.CPUShare > 0 {
		share = percent(r.CPUShare)
	}
	var how []string
	if r.Bytes > 0 {
		how = append(how, unit.FormatBytes(unit.Bytes(r.Bytes)))
	}
	if r.M > 0 {
		how = append(how, fmt.Sprintf("%d x %d x %d", r.M, r.N, r.K))
	}
	if r.Tokens > 0 {
		how = append(how, Plural(r.Tokens, "token"))
	}
	if r.Context > 0 {
		how = append(how, strconv.FormatInt(r.Context, 10)+" cached")
	}
	for _, s := range []string{r.Format, r.Data, r.Model, r.Kernel} {
		if s != "" {
			how = append(how, s)
		}
	}
	if r.ClockHz > 0 {
		how = append(how, fmt.Sprintf("%.0f MHz", r.ClockHz/1e6))
	}
	if r.PowerW > 0 {
		how = append(how, fmt.Sprintf("%.0f W", r.PowerW))
	}
	return []string{r.Kind, r.What, on, inSI(r.Value, r.Unit), best, spread, share, strings.Join(how, ", ")}
}

// inSI prints a quantity of a record.
func inSI(v float64, u string) string {
	switch u {
	case "bytes/s":
		return unit.FormatByteRate(unit.ByteRate(v))
	case "FLOP/s":
		return unit.FormatFLOPRate(unit.FLOPRate(v))
	case "s":
		return unit.FormatSeconds(unit.Seconds(v))
	case "Hz":
		return fmt.Sprintf("%.0f MHz", v/1e6)
	}
	return fmt.Sprintf("%.4g %s", v, u)
}
