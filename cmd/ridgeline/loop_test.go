package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/ggufwrite"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/modelfile"
	"github.com/ridgeline/ridgeline/internal/probe"
	"github.com/ridgeline/ridgeline/internal/record"
	"github.com/ridgeline/ridgeline/internal/tools"
	"github.com/ridgeline/ridgeline/internal/tune"
)

// pair is a model to calibrate on and another, of other widths, to predict.
type pair struct {
	name          string
	first, second ggufwrite.Config
	// layers of the first, by format, so that its weights take 150 to 240 MB: none may
	// stay in the caches, for the same reason as STREAM's arrays take four times those.
	layers map[string]int
}

var pairs = []pair{
	{"llama", ggufwrite.Config{Architecture: "llama", Hidden: 768, KVHeads: 4},
		ggufwrite.Config{Architecture: "llama", Hidden: 1024, Inner: 2816, Layers: 16, Heads: 16, KVHeads: 4, Vocab: 16384}, map[string]int{"f16": 12, "q8_0": 24, "q4_0": 40}},
	{"deepseek2", ggufwrite.Config{Architecture: "deepseek2", Hidden: 640},
		ggufwrite.Config{Architecture: "deepseek2", Layers: 10}, map[string]int{"f16": 6, "q8_0": 10, "q4_0": 18}},
}

// allowed is the largest error of a decode step, by the format of the weights.
var allowed = map[string]float64{"fp16": 0.15, "q8_0": 0.15, "q4_0": 0.25}

// steady is how far the bandwidth before a run may differ from that after it.
const steady = 0.1

// The loop: probe this CPU, calibrate on one model, predict another from its header
// alone, and measure that one. Times are of the engine's one thread, so that load on the
// machine lengthens them only through the memory bus: bandwidth is measured before and
// after each attempt, and an attempt that it changed in is made again. Pairs that
// go test's -timeout leaves no time for are not judged, and named.
func TestLoop(t *testing.T) {
	needEngine(t)
	if os.Getenv("RIDGELINE_LOOP") == "" {
		t.Skip("takes minutes: set RIDGELINE_LOOP=1, as make loop does")
	}
	c := clock{}
	c.end, c.limited = t.Deadline()
	var judged, open []string
	for _, p := range pairs {
		for _, kind := range []string{"f16", "q8_0", "q4_0"} {
			name := p.name + "-" + kind
			t.Run(name, func(t *testing.T) {
				open = append(open, name)
				p.first.Type, p.second.Type, p.first.Layers = kind, kind, p.layers[kind]
				p.try(t, &c)
				open, judged = open[:len(open)-1], append(judged, name)
			})
		}
	}
	t.Logf("judged: %s; not judged: %s", cmp.Or(strings.Join(judged, ", "), "none"), cmp.Or(strings.Join(open, ", "), "none"))
}

// clock tells whether another attempt ends in time.
type clock struct {
	end     time.Time
	limited bool
	longest time.Duration // attempt so far
}

func (c *clock) left() bool { return !c.limited || time.Until(c.end) > c.longest*5/4 }

// try makes attempts until one is within the limits. It ends the test where it cannot judge.
func (p *pair) try(t *testing.T, c *clock) {
	t.Helper()
	const attempts = 3
	loaded := true // in all attempts so far
	var bad []string
	for i := range attempts {
		if !c.left() {
			t.Skipf("no time for attempt %d", i+1)
		}
		begin := time.Now()
		var disturbed bool
		bad, disturbed = p.attempt(t)
		c.longest = max(c.longest, time.Since(begin))
		if len(bad) == 0 {
			return
		}
		loaded = loaded && disturbed
		t.Logf("attempt %d (bandwidth changed: %v): %s", i+1, disturbed, strings.Join(bad, "; "))
	}
	if loaded {
		t.Skipf("the machine is too loaded to judge: bandwidth changed by more than %.0f %% in each attempt", 100*steady)
	}
	t.Errorf("off in all of %d attempts, the last: %s", attempts, strings.Join(bad, "; "))
}

// bandwidth is the probe of this moment, of weights of one format.
func bandwidth(t *testing.T, format string) *record.Record {
	t.Helper()
	rec := probe.New("ridgeline", "test")
	c := probe.CPU{Threads: []int{1}, Size: 512, Repeats: 3, Formats: []string{format}}
	if err := c.Run(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	return rec
}

// attempt measures both models side by side and says which decode steps of the second
// were predicted too far off, and whether the bandwidth changed meanwhile.
func (p *pair) attempt(t *testing.T) (bad []string, disturbed bool) {
	t.Helper()
	m := p.measure(t)
	return m.judge(t, p.name), m.disturbed
}

// measured is what one attempt measured of a pair.
type measured struct {
	probes    []*record.Record
	runs      [2]tune.Run // the first is calibrated on
	disturbed bool        // the bandwidth changed meanwhile
}

func (p *pair) measure(t *testing.T) *measured {
	t.Helper()
	files := [2]string{writeModel(t, p.first), writeModel(t, p.second)}
	var servers [2]*engineServer
	for i, f := range files {
		servers[i] = startEngine(t, f, "--parallel", "8", "--ctx-size", "8192", "--no-mmap")
		servers[i].load(t, 1, 8, 4)
		servers[i].steps(t)
	}
	format := strings.Replace(p.first.Type, "f16", "fp16", 1) // as the probe names it
	m := &measured{}
	for round := range 4 { // so that each step, and the probe, sees the machine at several times
		m.probes = append(m.probes, bandwidth(t, format))
		for _, batch := range []int{1, 2, 4, 8} {
			for _, s := range servers {
				s.load(t, batch, 8, 8)
			}
		}
		servers[1].load(t, 3, 8, 8) // of which the first model tells nothing
		if round%2 == 0 {
			for _, s := range servers {
				s.load(t, 1, 500, 12)
			}
		}
	}
	m.probes = append(m.probes, bandwidth(t, format))
	for i, s := range servers {
		read, err := modelfile.OpenGGUF(files[i])
		if err != nil {
			t.Fatal(err)
		}
		rec, err := tools.Read(bytes.NewReader(s.steps(t)), files[i])
		if err != nil {
			t.Fatal(err)
		}
		m.runs[i] = tune.Run{Model: read, Record: rec}
		s.cmd.Process.Kill()
	}
	a, b := m.probes[0].Results[1].Best, m.probes[len(m.probes)-1].Results[1].Best
	m.disturbed = math.Abs(a/b-1) > steady
	return m
}

// judge predicts the second model on the machine that the first and the probe make, and
// says which of its steps are off by more than is allowed.
func (m *measured) judge(t *testing.T, name string) (bad []string) {
	t.Helper()
	o, err := tune.Fit(t.Context(), &tune.Input{Records: m.probes, Runs: m.runs[:1]})
	if err != nil {
		t.Fatal(err)
	}
	second := m.runs[1]
	for i := range second.Record.Results {
		r := &second.Record.Results[i]
		if r.What != "decode" {
			continue
		}
		seconds, measured := decodeStep(t, o.Machine, second.Model, r), r.Value
		if r.Repeats >= 8 && r.Best > 0 {
			measured = r.Best // others on the machine only lengthen a step
		}
		format, _, _ := infer.CheckpointFormats(second.Model)
		x := seconds/measured - 1
		t.Logf("%-9s %-5s decode  %d sequences, context %4d: measured %8.2f ms, predicted %8.2f ms, %+.1f %%", name, format, r.Batch, r.Context, 1e3*measured, 1e3*seconds, 100*x)
		asked := r.Batch <= 4 || r.Batch == 8 // others pass by while requests begin and end
		if asked && math.Abs(x) > allowed[format.String()] {
			bad = append(bad, fmt.Sprintf("%s decode of %d: %+.1f %%", format, r.Batch, 100*x))
		}
	}
	return bad
}

// decodeStep is the prediction of a decode step, seconds.
func decodeStep(t *testing.T, machine *hw.Cluster, m *model.Model, r *record.Result) float64 {
	t.Helper()
	profile, err := infer.ProfileOn("", machine.Device)
	if err != nil {
		t.Fatal(err)
	}
	s := &infer.Setup{Model: m, Cluster: machine, Profile: profile, MaxBatchTokens: 512}
	s.Weights, s.Experts, s.KV = infer.CheckpointFormats(m)
	e, err := infer.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return float64(e.Step(&infer.Batch{Decode: r.Batch, DecodeContext: int64(r.Batch) * r.Context}).Total)
}
