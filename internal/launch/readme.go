package launch

import (
	"cmp"
	"fmt"
	"strings"
)

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
		b.aboutEvaluation(line)
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
	line("%s-probe measures %s of %d node(s), while nothing else runs there: `%s`. This makes a machine file of the records:", b.Name, what, n, b.startTool("-probe"))
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
