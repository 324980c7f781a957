// Package benchfile reads the reports of other tools that evaluate services into
// package bench's: vLLM's `bench serve`, AIPerf, llm-d's benchmark report and
// InferenceX. A figure that a file does not state stays unknown; none is computed
// from others but where the file holds the values of every request. Names are taken
// by what they mean: another tool's inter-token latency that is (E2E - TTFT)/(n - 1)
// is TPOT here, gaps between chunks are ICL.
package benchfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/input"
	"github.com/ridgeline/ridgeline/internal/note"
)

// Imported is a report of another tool.
type Imported struct {
	Source string // which tool
	Report *bench.Report
	At     time.Time // of the run, zero where the file does not state it
	// Values are those of every request where the file holds them, ms, by stage and
	// metric (ttft, tpot, e2e).
	Values []map[string][]float32
}

// Formats are the tools whose files are read.
var Formats = []string{"vllm", "aiperf", "llm-d", "inferencex"}

// maxFile bounds a file: per-request lists of 100,000 requests take some 500 MB.
const maxFile = 1 << 30

// Open reads a file; format is one of Formats, or "" to tell by its keys.
func Open(path, format string) (*Imported, error) {
	f, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	i, err := Read(f, format)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return i, nil
}

// Read is Open for what is open.
func Read(r io.Reader, format string) (*Imported, error) {
	t, err := input.Text(r, maxFile)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(t)
	if err != nil {
		return nil, err
	}
	if raw, err = asJSON(raw); err != nil {
		return nil, err
	}
	if format == "" {
		if format, err = detect(raw); err != nil {
			return nil, err
		}
	}
	read, ok := map[string]func([]byte) (*Imported, error){"vllm": readVLLM, "aiperf": readAIPerf, "llm-d": readLLMD, "inferencex": readInferenceX}[format]
	if !ok {
		return nil, fmt.Errorf("unknown format %q", format)
	}
	i, err := read(raw)
	if err != nil {
		return nil, fmt.Errorf("not a %s report: %w", format, err)
	}
	i.Source, i.Report.Protocol = format, "as "+format+" defines it"
	i.At = instant(i.Report.Started)
	for k := range i.Report.Stages {
		if err := check(&i.Report.Stages[k]); err != nil {
			return nil, fmt.Errorf("not a %s report: %w", format, err)
		}
	}
	if i.Values == nil && slices.ContainsFunc(i.Report.Stages, func(s bench.Stage) bool { return s.ICL.N > 0 }) {
		i.uncounted()
	}
	return i, nil
}

// mostYAML bounds a report in YAML, which is some kB: its reader takes many times as much.
const mostYAML = 4 << 20

// asJSON makes JSON of a report in YAML, which llm-d writes; JSON stays as it is.
func asJSON(raw []byte) ([]byte, error) {
	text := bytes.TrimLeft(raw, " \t\r\n")
	if len(text) == 0 || text[0] == '{' || text[0] == '[' {
		return raw, nil
	}
	if len(text) > mostYAML {
		return nil, errors.New("neither JSON nor a short YAML report")
	}
	var doc map[string]any
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("neither JSON nor a YAML report: %s", oneLine(err))
	}
	out, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("a YAML report with what JSON lacks: %s", oneLine(err))
	}
	return out, nil
}

// oneLine is an error's text in one short line.
func oneLine(err error) string {
	const most = 120
	return fmt.Sprintf("%.*s", most, strings.Join(strings.Fields(err.Error()), " "))
}

// detect tells a format by keys that only it has.
func detect(raw []byte) (string, error) {
	var first json.RawMessage = raw
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		first = list[0]
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(first, &keys); err != nil {
		return "", fmt.Errorf("not JSON of a report: %w", err)
	}
	has := func(names ...string) bool {
		for _, n := range names {
			if _, ok := keys[n]; !ok {
				return false
			}
		}
		return true
	}
	switch {
	case has("hw", "conc", "tput_per_gpu"):
		return "inferencex", nil
	case has("scenario", "metrics") || has("version", "run", "metrics") || has("version", "scenario", "results"):
		return "llm-d", nil
	case has("time_to_first_token") || has("request_latency", "input_config"):
		return "aiperf", nil
	case has("completed", "request_throughput"):
		return "vllm", nil
	}
	return "", errors.New("no report of vllm, aiperf, llm-d or inferencex is known by its keys: name one with --format")
}

// number is a JSON number; null, and numbers that are none, are unknown.
type number struct{ v float64 }

func (n *number) UnmarshalJSON(b []byte) error {
	n.v = math.NaN()
	if string(b) == "null" || string(b) == `"inf"` {
		return nil
	}
	return json.Unmarshal(b, &n.v)
}

// or gives the value, or what stands for one that was not stated.
func (n *number) or(missing float64) float64 {
	if n == nil {
		return missing
	}
	return n.v
}

// times is a value in another unit.
func (n *number) times(scale float64) float64 { return n.or(math.NaN()) * scale }

// check refuses what no run can have measured.
func check(s *bench.Stage) error {
	q := s.Requests
	switch {
	case q.OK < 0 || q.Failed < 0 || q.Sent != q.OK+q.Failed+q.Truncated+q.Cancelled:
		return fmt.Errorf("%d requests sent, %d answered, %d failed: give counts that add up", q.Sent, q.OK, q.Failed)
	case s.Concurrency < 0 || !(s.Rate >= 0) || math.IsInf(s.Rate, 0):
		return fmt.Errorf("concurrency %d, rate %g: must be 0 or more", s.Concurrency, s.Rate)
	}
	for name, d := range map[string]*bench.Dist{"ttft": &s.TTFT, "tpot": &s.TPOT, "e2e": &s.E2E, "icl": &s.ICL, "input tokens": &s.Input, "output tokens": &s.Output} {
		for _, v := range []float64{d.Mean, d.P50, d.P90, d.P95, d.P99, d.Min, d.Max, d.Std} {
			if v < 0 || math.IsInf(v, 0) || v > most {
				return fmt.Errorf("%s of %g: must be 0 or more and finite", name, v)
			}
		}
		last := math.Inf(-1)
		for _, v := range []float64{d.Min, d.P50, d.P90, d.P95, d.P99, d.Max} {
			if d.N > 0 && v < last {
				return fmt.Errorf("%s has a percentile of %g above a later one of %g: give a file that no one changed", name, last, v)
			}
			if !math.IsNaN(v) {
				last = v
			}
		}
	}
	for _, v := range []bench.Figure{s.OutputRate, s.InputRate, s.RequestRate} {
		if v < 0 || v > most {
			return fmt.Errorf("a rate of %g: must be 0 or more and finite", v)
		}
	}
	return nil
}

// most is beyond any figure of a run, in whatever unit.
const most = 1e15

// newStage is one whose client is not known, with figures from sent. Without requests
// in flight and without a rate its load is not stated.
func newStage(concurrency int, rate float64) bench.Stage {
	s := bench.Stage{Concurrency: concurrency, Timeline: []bench.Moment{}, Warnings: []string{}}
	switch {
	case rate > 0:
		s.Mode, s.Rate = bench.Open, rate
	case concurrency != 0:
		s.Mode = bench.Closed
	}
	s.Basis, s.Other.Basis, s.Classes, s.Coverage = bench.Service, bench.Response, map[string]int{}, 1
	for _, f := range []*bench.Figure{&s.Achieved, &s.Counted, &s.PerChunk, &s.InFlight, &s.RequestRate, &s.OutputRate, &s.InputRate} {
		*f = bench.Unknown()
	}
	s.Client = bench.UnknownClient("the file does not tell how its client ran")
	return s
}

// newReport is of one stage.
func newReport(model string, s bench.Stage) *bench.Report {
	list := note.List{note.New(note.OtherTool, "", otherTool)}
	return &bench.Report{Model: model, Stream: true, Labels: map[string]string{}, Stages: []bench.Stage{s},
		Notes: list, Warnings: list.Texts(), NetDelay: []string{}}
}

// uncounted notes that a file states gaps between chunks and not how many they are: the
// number of its requests stands in, which makes intervals wider than they are, not narrower.
func (i *Imported) uncounted() {
	r := i.Report
	r.Notes = note.List{note.New(note.OtherTool, "", otherTool+", nor how many gaps between chunks there were: n of ICL is the number of requests")}
	r.Warnings = r.Notes.Texts()
}

const otherTool = "read from another tool's file: what it does not state is not known"

// instant reads the time of a run as vLLM (local), AIPerf (without a zone) or RFC 3339 write
// it; without a zone it is taken for UTC. The zero time is none.
func instant(text string) time.Time {
	for _, layout := range []string{"20060102-150405", "2006-01-02T15:04:05", time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t
		}
	}
	return time.Time{}
}

// count is a number of something: 0 where it is not stated, -1, which check
// refuses, where it cannot be one.
func count(v float64) int {
	switch {
	case math.IsNaN(v):
		return 0
	case v < 0 || v > math.MaxInt32:
		return -1
	}
	return int(v)
}
