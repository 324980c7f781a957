// Package record is a measurement of a machine as it is kept: what was measured, by
// which program, on which machine, with which data and sizes, how often, and how far
// the repeats spread. Probes write records, readers of other tools' output make
// them, calibration consumes them; none of that happens here.
package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ridgeline/ridgeline/internal/input"
)

// Form is the value of Record.Form; another one is refused.
const Form = "ridgeline-record-1"

// Record is what one program measured on one machine.
type Record struct {
	Form    string    `json:"record"`
	Tool    string    `json:"tool"`           // the program and its version
	Source  string    `json:"source"`         // the file it was read from, or the command
	When    time.Time `json:"when,omitzero"`  // of the first measurement
	Machine Machine   `json:"machine"`        // as far as the tool says
	Partial bool      `json:"partial"`        // interrupted: what follows is whole, but not all
	Notes   []string  `json:"notes,omitzero"` // what a reader must know: a loaded machine, a part that failed
	Results []Result  `json:"results"`
}

// Machine is what was measured.
type Machine struct {
	Host        string   `json:"host,omitempty"`
	System      string   `json:"system,omitempty"` // linux/amd64 and the kernel
	CPU         string   `json:"cpu,omitempty"`
	Cores       int      `json:"cores,omitempty"`
	MemoryBytes int64    `json:"memory_bytes,omitempty"`
	GPUs        []string `json:"gpus,omitempty"`
	Driver      string   `json:"driver,omitempty"`
	Libraries   []string `json:"libraries,omitempty"` // name and version
}

// The kinds of a Result.
const (
	Memory     = "memory"     // What: read, triad; bytes/s
	GEMM       = "gemm"       // What: the kernel; FLOP/s
	Copy       = "copy"       // What: host-to-device, device-to-host, device, device-to-device; bytes/s
	Collective = "collective" // What: all-reduce, ...; Bytes per rank; seconds
	Network    = "network"    // What: bandwidth (bytes/s), latency (seconds, one way) or round-trip (seconds)
	Clock      = "clock"      // What: sm, memory; Hz
	Power      = "power"      // watts
	Serving    = "serving"    // What: prefill or decode; seconds of one step
	Training   = "training"   // What: tokens or flops; per second and GPU
)

// GEMV is the What of a memory rate that a product of one row reached: Format is of the
// weights, Bytes the working set that it went over again and again.
const GEMV = "gemv"

// ShortGEMV is a GEMV of rows of K columns on a working set that the nearest caches hold:
// between two K lies what the end of a row takes.
const ShortGEMV = "gemv of short rows"

// Result is one quantity.
type Result struct {
	Kind    string  `json:"kind"`
	What    string  `json:"what"`
	Unit    string  `json:"unit"`              // of Value: bytes/s, FLOP/s, s, Hz, W, tokens/s; SI
	Value   float64 `json:"value"`             // median of the repeats
	Best    float64 `json:"best,omitempty"`    // largest rate or smallest time
	Repeats int     `json:"repeats,omitempty"` // 0 = the tool does not say
	Spread  float64 `json:"spread,omitempty"`  // (largest - smallest)/median of the repeats

	Format  string  `json:"format,omitempty"`  // of the elements, as package unit names it
	Kernel  string  `json:"kernel,omitempty"`  // what ran
	Data    string  `json:"data,omitempty"`    // random or zeros
	Device  string  `json:"device,omitempty"`  // of the machine: cpu, gpu0, gpu0-gpu1
	Threads int     `json:"threads,omitempty"` // of the CPU
	Ranks   int     `json:"ranks,omitempty"`
	Nodes   int     `json:"nodes,omitempty"` // 0 = the tool does not say
	Bytes   int64   `json:"bytes,omitempty"` // of the message, or of the working set
	M       int64   `json:"m,omitempty"`
	N       int64   `json:"n,omitempty"`
	K       int64   `json:"k,omitempty"`
	ClockHz float64 `json:"clock_hz,omitempty"` // SM clock meanwhile
	PowerW  float64 `json:"power_w,omitempty"`  // meanwhile

	// Serving only.
	Model       string  `json:"model,omitempty"`
	Batch       int     `json:"batch,omitempty"`     // sequences in the step; of a step of training too, 0 = not said
	Context     int64   `json:"context,omitempty"`   // keys of each before the step, mean
	Tokens      int64   `json:"tokens,omitempty"`    // prompt tokens of the step; of a step of training all, 0 = not said
	HostSeconds float64 `json:"host_s,omitempty"`    // of Value: scheduler, sampling, HTTP
	Layout      string  `json:"layout,omitempty"`    // of a step of training: the keys of its plan that the log states
	CPUShare    float64 `json:"cpu_share,omitempty"` // of the wall time that the measuring thread ran; below 1 others took the rest
}

// Summarize fills Value, Best, Repeats and Spread from the repeats' samples; of
// times the smallest is best, of everything else the largest.
func (r *Result) Summarize(samples []float64) {
	v := slices.Sorted(slices.Values(samples))
	r.Repeats = len(v)
	if len(v) == 0 {
		return
	}
	r.Value = (v[(len(v)-1)/2] + v[len(v)/2]) / 2
	r.Best = v[len(v)-1]
	if r.Unit == "s" {
		r.Best = v[0]
	}
	if r.Value > 0 {
		r.Spread = (v[len(v)-1] - v[0]) / r.Value
	}
}

// maxBytes bounds a record: a sweep of collectives over all sizes takes 100 kB.
const maxBytes = 64 << 20

// Read reads a record strictly.
func Read(r io.Reader, name string) (*Record, error) {
	text, err := input.Text(r, maxBytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var rec Record
	d := json.NewDecoder(text)
	d.DisallowUnknownFields()
	if err := d.Decode(&rec); err != nil {
		return nil, fmt.Errorf("%s: %s: give a record as `ridgeline probe --json` writes it", name, strings.Join(strings.Fields(err.Error()), " "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: holds more than one record: give one per file", name)
	}
	if rec.Form != Form {
		return nil, fmt.Errorf("%s: record is %q: this version reads %q", name, rec.Form, Form)
	}
	return &rec, rec.Check(name)
}

// unitsOf are the units of each kind, by which readers take Value.
var unitsOf = map[string][]string{
	Memory: {"bytes/s"}, GEMM: {"FLOP/s"}, Copy: {"bytes/s"}, Collective: {"s"}, Network: {"bytes/s", "s"},
	Serving: {"s"}, Clock: {"Hz"}, Power: {"W"}, Training: {"s", "tokens/s", "FLOP/s"},
}

// Check refuses quantities that are no measurement.
func (rec *Record) Check(name string) error {
	for i := range rec.Results {
		r := &rec.Results[i]
		if !(r.Value > 0) || math.IsInf(r.Value, 0) || !(r.Best >= 0) || math.IsInf(r.Best, 0) || r.Kind == "" || r.Unit == "" {
			return fmt.Errorf("%s: result %d (%s %s) is %g %s: a measurement is a positive number with its kind and unit", name, i+1, r.Kind, r.What, r.Value, r.Unit)
		}
		if units := unitsOf[r.Kind]; len(units) > 0 && !slices.Contains(units, r.Unit) {
			return fmt.Errorf("%s: result %d (%s %s) is in %q: give it in %s", name, i+1, r.Kind, r.What, r.Unit, strings.Join(units, " or "))
		}
	}
	return nil
}
