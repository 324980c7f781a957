package tools

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/record"
)

// nvbandwidthCase is what one of its test cases measures.
func nvbandwidthCase(name string) (what string, ok bool) {
	switch {
	case strings.Contains(name, "latency"):
		return "", false
	case strings.Contains(name, "bidirectional"), strings.Contains(name, "all_to"), strings.Contains(name, "one_to"), strings.Contains(name, "to_all"), strings.Contains(name, "to_one"):
		return name, true // several copies at once: no rate of one direction
	case strings.HasPrefix(name, "host_to_device"):
		return "host-to-device", true
	case strings.HasPrefix(name, "device_to_host"):
		return "device-to-host", true
	case strings.HasPrefix(name, "device_to_device"):
		return "device-to-device", true
	case strings.HasPrefix(name, "device_local"):
		return "device", true
	}
	return name, true
}

// add keeps the cells of one matrix: row and column are devices; a single row is the
// host's.
func addMatrix(rec *record.Record, name string, rows [][]string, labels []string) error {
	what, ok := nvbandwidthCase(name)
	if !ok {
		return nil
	}
	for i, row := range rows {
		for j, cell := range row {
			if cell == "N/A" || cell == "" {
				continue
			}
			v, err := strconv.ParseFloat(cell, 64)
			if err != nil {
				return fmt.Errorf("%s: %q is no bandwidth", name, cell)
			}
			if v == 0 {
				continue
			}
			if what == "device" { // nvbandwidth counts the bytes copied; the memory reads and writes each
				v *= 2
			}
			r := record.Result{Kind: record.Copy, What: what, Unit: "bytes/s", Value: v * 1e9, Best: v * 1e9, Kernel: name, Device: "gpu" + strconv.Itoa(j)}
			if what == "device-to-device" && i < len(labels) {
				r.Device = "gpu" + labels[i] + "-gpu" + strconv.Itoa(j)
			}
			rec.Results = append(rec.Results, r)
		}
	}
	return nil
}

// nvbandwidthJSON reads `nvbandwidth -j`.
func nvbandwidthJSON(t *text, rec *record.Record) error {
	var doc struct {
		N struct {
			Driver string            `json:"Driver Version"`
			Git    string            `json:"git_version"`
			GPUs   []json.RawMessage `json:"GPU Device info"`
			Cases  []struct {
				Name   string              `json:"name"`
				Status string              `json:"status"`
				Matrix [][]json.RawMessage `json:"bandwidth_matrix"`
			} `json:"testcases"`
		} `json:"nvbandwidth"`
	}
	if err := json.Unmarshal(t.all, &doc); err != nil {
		return err
	}
	rec.Machine.Driver = doc.N.Driver
	for _, g := range doc.N.GPUs {
		addGPU(rec, gpuName(unquote(g)))
	}
	for _, c := range doc.N.Cases {
		if c.Status != "" && c.Status != "Passed" {
			rec.Notes = append(rec.Notes, c.Name+": "+c.Status)
			continue
		}
		rows, labels := make([][]string, len(c.Matrix)), make([]string, len(c.Matrix))
		for i, row := range c.Matrix {
			labels[i] = strconv.Itoa(i)
			for _, cell := range row {
				rows[i] = append(rows[i], unquote(cell))
			}
		}
		if err := addMatrix(rec, c.Name, rows, labels); err != nil {
			return err
		}
	}
	return nil
}

// unquote is a JSON scalar as text: versions differ in whether numbers are quoted.
func unquote(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

var deviceLine = regexp.MustCompile(`^Device (\d+): (.+)$`)

// gpuName leaves the bus address out.
func gpuName(s string) string {
	if _, name, ok := strings.Cut(s, ": "); ok {
		s = name
	}
	name, _, _ := strings.Cut(s, " (")
	return name
}

// nvbandwidth reads its text: "Running NAME.", a description, a line of columns, rows.
func nvbandwidth(t *text, rec *record.Record) error {
	name := ""
	var rows [][]string
	var labels []string
	flush := func() error {
		err := addMatrix(rec, name, rows, labels)
		rows, labels = nil, nil
		return err
	}
	inside := false
	for _, line := range t.lines {
		f := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Driver Version:"):
			rec.Machine.Driver = f[len(f)-1]
		case deviceLine.MatchString(line):
			addGPU(rec, gpuName(line))
		case strings.HasPrefix(line, "Running "):
			if err := flush(); err != nil {
				return err
			}
			name, inside = strings.TrimSuffix(strings.TrimPrefix(line, "Running "), "."), false
		case strings.Contains(line, "bandwidth (GB/s)"):
			inside = true
		case inside && len(f) > 1 && !strings.HasPrefix(line, "SUM") && isRow(f):
			rows, labels = append(rows, f[1:]), append(labels, f[0])
		case strings.HasPrefix(line, "SUM"):
			inside = false
		}
	}
	return flush()
}

// isRow tells a row of the matrix, whose first cell is a device and whose others are
// bandwidths, from the line of columns, which are all whole numbers in order.
func isRow(f []string) bool {
	if _, err := strconv.Atoi(f[0]); err != nil {
		return false
	}
	for _, cell := range f[1:] {
		if cell == "N/A" || strings.Contains(cell, ".") {
			return true
		}
	}
	return false
}
