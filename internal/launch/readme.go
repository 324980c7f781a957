package launch

import (
	"cmp"
	"fmt"
	"strings"
)

// Protocol of the evaluation (InferenceX): per level of concurrency, twice as many
// requests to warm up and ten times as many measured, random prompts, so that no
// prefix is found in a cache.
const (
	warmupPerUser   = 2
	measuredPerUser = 10
)

// The load of an evaluation where none was asked for: one that shows the whole curve
// from a single user on, of the lengths that published evaluations use most.
const (
	usualLength = 1024 // tokens, in and out (InferenceX)
	usualLevels = "1..64"
)

// bench is the command that evaluates the service as the prediction assumes.
func (b *builder) bench() string {
	a := &args{}
	a.add("ridgeline", "bench", "--url", fmt.Sprintf("http://localhost:%d/v1", b.entryPort()), "--model", b.servedName())
	a.count("--isl", cmp.Or(b.Serve.ISL, usualLength))
	a.count("--osl", cmp.Or(b.Serve.OSL, usualLength))
	a.add("--concurrency", cmp.Or(b.Serve.Concurrency, usualLevels))
	a.add("--json")
	return shellLines(a.words, nil, "  ")
}

// readme says how the files are used and what they leave to the user.
func (b *builder) readme() File {
	var t strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&t, format+"\n", args...) }
	line("# %s", b.Name)
	line("")
	for _, h := range b.header(b.list) {
		line("- %s", h)
	}
	for _, g := range b.groups {
		line("- %s: %d instance(s) of %d node(s) with %d GPU(s) each", g.name, g.replicas, g.nodes, g.gpus)
	}
	b.aboutStart(line)
	if b.Training == nil {
		line("")
		line("## Evaluate")
		line("")
		line("```sh\n%s\n```", b.bench())
		line("")
		if n := b.Tools.Workers; n > 0 {
			line("Or from %d workers at once (%s-load), each with its share of every level; `ridgeline bench merge %s-load-*.jsonl` joins what they recorded.", n, b.Name, b.Name)
			line("")
		}
		line("Closed loop, %d x concurrency requests to warm up and %d x measured, random prompts.", warmupPerUser, measuredPerUser)
		if b.Serve.ISL == 0 || b.Serve.OSL == 0 || b.Serve.Concurrency == "" {
			line("What was not asked for is the usual load: %d tokens in and out, %s requests in flight.", usualLength, usualLevels)
		}
		switch cache := b.Serve.PrefixCache; {
		case cache == nil:
			line("The prefix cache is as the engine's default: random prompts do not hit it, but it costs time.")
		case *cache:
			line("The prefix cache is on: prompts of equal beginnings measure the cache.")
		default:
			line("The prefix cache is off.")
		}
		if n := b.Serve.StreamInterval; n > 1 {
			line("The engine streams every %d tokens: chunk intervals cover %d tokens each.", n, n)
		} else {
			line("The engine streams every token unless its default says otherwise: the record keeps the interval.")
		}
	}
	b.aboutProbes(line)
	if len(b.Predicted) > 0 {
		line("")
		line("Predicted, to compare with:")
		line("")
		for _, p := range b.Predicted {
			line("- %s", p)
		}
	}
	for _, part := range []struct {
		title string
		list  []string
	}{{"Warnings", b.warnings}, {"Left to you", b.notes}} {
		if len(part.list) == 0 {
			continue
		}
		line("")
		line("## %s", part.title)
		line("")
		for _, n := range part.list {
			line("- %s", n)
		}
	}
	return File{Name: "README.md", Content: t.String()}
}

// aboutProbes says what the probe job measures and what becomes of it.
func (b *builder) aboutProbes(line func(string, ...any)) {
	n := b.Tools.Probes
	if n == 0 {
		return
	}
	what, base := "the CPU", ""
	if b.probeGPUs() > 0 {
		what, base = "the CPU and the GPUs", " --cluster "+shellLines([]Word{{Text: cmp.Or(b.Machine, "MACHINE")}}, nil, "")
	}
	line("")
	line("## Probe")
	line("")
	line("%s-probe measures %s of %d node(s). This makes a machine file of the records:", b.Name, what, n)
	line("")
	line("```sh\nridgeline calibrate %s-probe-*.json%s --out %s.yaml\n```", b.Name, base, b.Name)
	if base != "" && b.Machine == "" {
		line("")
		line("MACHINE is the one that the file starts from: `ridgeline clusters` lists those that are known.")
	}
	if n > 1 {
		line("")
		line("The records %s-probe-*-tcp.json hold the ways between the nodes over TCP, for reading: no figure of a machine file takes them.", b.Name)
	}
}
