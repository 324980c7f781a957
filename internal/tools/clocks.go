package tools

import (
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/record"
)

// smi reads `nvidia-smi --query-gpu=index,name,clocks.sm,clocks.mem,power.draw
// --format=csv`, once or as a log with -l: the median of each GPU's rows is kept.
func smi(t *text, rec *record.Record) error {
	rows, err := csvRows(t, "[MHz]")
	if err != nil {
		return err
	}
	head := rows[0]
	index, name, driver := column(head, "index"), column(head, "name"), column(head, "driver_version")
	s := newSamples()
	for i, row := range rows[1:] {
		device := "0"
		if index >= 0 {
			device = row[index]
		}
		if name >= 0 && s.firstOf(device) {
			addGPU(rec, row[name])
		}
		if driver >= 0 {
			rec.Machine.Driver = row[driver]
		}
		for j, h := range head {
			kind, what, scale := smiColumn(h)
			if kind == "" || strings.HasPrefix(row[j], "[") { // [N/A], [Not Supported]
				continue
			}
			number, _, _ := strings.Cut(row[j], " ")
			v, err := strconv.ParseFloat(number, 64)
			if err != nil {
				return fmt.Errorf("row %d: %q under %s is no number", i+2, row[j], h)
			}
			s.add(device, kind, what, v*scale)
		}
	}
	s.results(rec)
	return nil
}

// smiColumn is what a column of nvidia-smi measures; kind is empty for others.
func smiColumn(h string) (kind, what string, scale float64) {
	name, _, _ := strings.Cut(h, " [")
	switch name {
	case "clocks.current.sm", "clocks.sm", "clocks.gr", "clocks.current.graphics":
		return record.Clock, "sm", 1e6
	case "clocks.current.memory", "clocks.mem":
		return record.Clock, "memory", 1e6
	case "power.draw", "power.draw.average", "power.draw.instant":
		return record.Power, "draw", 1
	}
	return "", "", 0
}

// dcgm reads `dcgmi dmon -e 100,101,155`: SM clock, memory clock, power.
func dcgm(t *text, rec *record.Record) error {
	var names []string
	s := newSamples()
	for i, line := range t.lines {
		f := strings.Fields(line)
		switch {
		case len(f) > 1 && f[0] == "#Entity":
			names = f[1:]
		case len(f) > 2 && f[0] == "GPU" && names != nil:
			for j, cell := range f[2:] {
				if j >= len(names) || cell == "N/A" {
					continue
				}
				v, err := strconv.ParseFloat(cell, 64)
				if err != nil {
					return fmt.Errorf("line %d: %q is no number", i+1, cell)
				}
				switch names[j] {
				case "SMCLK":
					s.add(f[1], record.Clock, "sm", v*1e6)
				case "MMCLK", "MEMCLK":
					s.add(f[1], record.Clock, "memory", v*1e6)
				case "POWER":
					s.add(f[1], record.Power, "draw", v)
				}
			}
		}
	}
	s.results(rec)
	return nil
}

// samples gathers readings by device and quantity, in the order they came.
type samples struct {
	order []record.Result
	of    map[record.Result][]float64
	seen  map[string]bool
}

func newSamples() *samples {
	return &samples{of: map[record.Result][]float64{}, seen: map[string]bool{}}
}

func (s *samples) firstOf(device string) bool {
	first := !s.seen[device]
	s.seen[device] = true
	return first
}

// add keeps a reading; an idle GPU's zero is none.
func (s *samples) add(device, kind, what string, v float64) {
	if v <= 0 {
		return
	}
	key := record.Result{Kind: kind, What: what, Device: "gpu" + device, Unit: "Hz"}
	if kind == record.Power {
		key.Unit = "W"
	}
	if s.of[key] == nil {
		s.order = append(s.order, key)
	}
	s.of[key] = append(s.of[key], v)
}

func (s *samples) results(rec *record.Record) {
	for _, key := range s.order {
		r := key
		r.Summarize(s.of[key])
		rec.Results = append(rec.Results, r)
	}
}

// csvRows reads the comma-separated table whose header holds mark; lines before it,
// which tools print as they start, are skipped. Every row has the header's cells.
func csvRows(t *text, mark string) ([][]string, error) {
	for i, line := range t.lines {
		if !strings.Contains(line, mark) {
			continue
		}
		r := csv.NewReader(strings.NewReader(strings.Join(t.lines[i:], "\n")))
		r.TrimLeadingSpace = true
		rows, err := r.ReadAll()
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			for j := range row {
				row[j] = strings.TrimSpace(row[j])
			}
		}
		return rows, nil
	}
	return nil, errNone
}

// column is the index of a header's cell, -1 where it is missing.
func column(head []string, name string) int {
	for i, h := range head {
		if h == name {
			return i
		}
	}
	return -1
}

func addGPU(rec *record.Record, name string) { rec.Machine.GPUs = append(rec.Machine.GPUs, name) }
