package tools

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/record"
)

// llamaRow is one test of llama-bench: n_prompt tokens read at once, or n_gen
// generated one by one by one sequence, behind n_depth cached tokens.
type llamaRow struct {
	CPU     string    `json:"cpu_info"`
	GPU     string    `json:"gpu_info"`
	Build   string    `json:"build_commit"`
	File    string    `json:"model_filename"`
	Type    string    `json:"model_type"`
	Threads int       `json:"n_threads"`
	Prompt  int64     `json:"n_prompt"`
	Gen     int64     `json:"n_gen"`
	Depth   int64     `json:"n_depth"`
	Rate    float64   `json:"avg_ts"`
	StdDev  float64   `json:"stddev_ts"`
	Samples []float64 `json:"samples_ts"`
}

// add makes the row a serving step: a whole prompt, or one token.
func (row *llamaRow) add(rec *record.Record) error {
	if !(row.Rate > 0) || math.IsInf(row.Rate, 0) {
		return fmt.Errorf("%s: %g tokens per second is no measurement", row.Type, row.Rate)
	}
	if row.Prompt < 0 || row.Gen < 0 || row.Depth < 0 || row.Prompt > 1<<40 || row.Gen > 1<<40 || row.Depth > 1<<40 {
		return fmt.Errorf("%s: n_prompt %d, n_gen %d, n_depth %d: tokens are counted from 0", row.Type, row.Prompt, row.Gen, row.Depth)
	}
	r := record.Result{Kind: record.Serving, Unit: "s", Model: row.File, Threads: row.Threads, Batch: 1, Kernel: "llama.cpp " + row.Build, Device: "cpu"}
	if r.Model == "" {
		r.Model = row.Type
	}
	if row.GPU != "" {
		r.Device = row.GPU
	}
	each := 1.0
	switch {
	case row.Prompt > 0 && row.Gen > 0:
		return nil // pg: both together tell neither
	case row.Prompt > 0:
		r.What, r.Tokens, r.Context, each = "prefill", row.Prompt, row.Depth, float64(row.Prompt)
	case row.Gen > 0:
		r.What, r.Context = "decode", row.Depth+row.Gen/2
	default:
		return nil
	}
	var times []float64
	for _, rate := range row.Samples {
		if rate > 0 {
			times = append(times, each/rate)
		}
	}
	if len(times) > 0 {
		r.Summarize(times)
	} else {
		r.Value, r.Best = each/row.Rate, each/row.Rate
		r.Spread = 2 * row.StdDev / row.Rate
	}
	rec.Machine.CPU = row.CPU
	rec.Results = append(rec.Results, r)
	return nil
}

func llamaJSON(t *text, rec *record.Record) error {
	var rows []llamaRow
	if err := json.Unmarshal(t.all, &rows); err != nil {
		rows = nil // or as lines, -o jsonl
		for _, line := range t.lines {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			var row llamaRow
			if e := json.Unmarshal([]byte(line), &row); e != nil {
				return err
			}
			rows = append(rows, row)
		}
	}
	for i := range rows {
		if err := rows[i].add(rec); err != nil {
			return err
		}
	}
	return nil
}

func llamaCSV(t *text, rec *record.Record) error {
	rows, err := csvRows(t, "avg_ts")
	if err != nil {
		return err
	}
	head := rows[0]
	for i, row := range rows[1:] {
		cell := func(name string) string {
			if j := column(head, name); j >= 0 {
				return row[j]
			}
			return ""
		}
		var bad error
		number := func(name string) float64 {
			text := cell(name)
			if text == "" {
				return 0
			}
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || math.IsNaN(v) {
				bad = fmt.Errorf("row %d: %s is %q, no number", i+2, name, text)
			}
			return v
		}
		x := llamaRow{CPU: cell("cpu_info"), GPU: cell("gpu_info"), Build: cell("build_commit"), File: cell("model_filename"), Type: cell("model_type"),
			Threads: int(number("n_threads")), Prompt: int64(number("n_prompt")), Gen: int64(number("n_gen")), Depth: int64(number("n_depth")),
			Rate: number("avg_ts"), StdDev: number("stddev_ts")}
		if bad != nil {
			return bad
		}
		if err := x.add(rec); err != nil {
			return err
		}
	}
	return nil
}

// llamaMarkdown reads the table that llama-bench prints by default: the test column
// holds pp512, tg128 or tg128 @ d4096, t/s a mean and its deviation.
func llamaMarkdown(t *text, rec *record.Record) error {
	var head []string
	for i, line := range t.lines {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for j := range cells {
			cells[j] = strings.TrimSpace(cells[j])
		}
		if column(cells, "t/s") >= 0 && column(cells, "test") >= 0 {
			head = cells
			continue
		}
		if head == nil || strings.HasPrefix(cells[0], "--") || len(cells) != len(head) {
			continue
		}
		test, depth, _ := strings.Cut(cells[column(head, "test")], " @ d")
		mean, deviation, _ := strings.Cut(cells[column(head, "t/s")], " ± ")
		x := llamaRow{Type: cells[max(column(head, "model"), 0)]}
		var errs [4]error
		x.Rate, errs[0] = strconv.ParseFloat(mean, 64)
		if deviation != "" {
			x.StdDev, errs[1] = strconv.ParseFloat(deviation, 64)
		}
		if depth != "" {
			x.Depth, errs[2] = strconv.ParseInt(depth, 10, 64)
		}
		if j := column(head, "threads"); j >= 0 {
			x.Threads, errs[3] = strconv.Atoi(cells[j])
		}
		for _, err := range errs {
			if err != nil {
				return fmt.Errorf("line %d: %w", i+1, err)
			}
		}
		if n, ok := strings.CutPrefix(test, "pp"); ok {
			x.Prompt, _ = strconv.ParseInt(n, 10, 64) // pp512+tg128 is neither and stays 0
		} else if n, ok := strings.CutPrefix(test, "tg"); ok {
			x.Gen, _ = strconv.ParseInt(n, 10, 64)
		}
		if err := x.add(rec); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	return nil
}
