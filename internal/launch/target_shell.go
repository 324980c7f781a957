package launch

import (
	"fmt"
	"slices"
	"strings"
)

// shellNames are the variables of a shell script.
var shellNames = map[Ref]string{NodeRank: "NODE_RANK", Leader: "LEADER_ADDRESS", ConfigDir: "CONFIG_DIR", OwnAddress: "OWN_ADDRESS", Workers: "RPC_WORKERS"}

// lines is a shell script in the making. What users chose reaches it only as
// quoted words.
type lines struct{ b strings.Builder }

func (s *lines) line(format string, args ...any) { fmt.Fprintf(&s.b, format+"\n", args...) }
func (s *lines) text() string                    { return s.b.String() }

// exec ends a script with a command.
func (s *lines) exec(indent string, words []Word) {
	s.line("%sexec %s", indent, shellLines(words, shellNames, indent+"  "))
}

// begin begins the script of a group: header, settings that it needs, variables.
func (b *builder) begin(g *group) *lines {
	s := &lines{}
	s.line("#!/usr/bin/env bash")
	s.b.WriteString(comment("#", b.header(b.list)))
	if g.replicas > 1 {
		s.line("# one of %d instances: run it once for each, on nodes of its own", g.replicas)
	}
	s.line("set -euo pipefail")
	if g.nodes > 1 {
		s.line(": \"${NODE_RANK:?set it to the number of this node, 0 to %d}\"", g.nodes-1)
		s.line(": \"${LEADER_ADDRESS:?set it to the address of node 0}\"")
	}
	b.variables(s, g)
	return s
}

// variables writes what a command refers to, and its environment.
func (b *builder) variables(s *lines, g *group) {
	all := slices.Concat(g.leader, g.follower)
	for _, e := range g.env {
		all = append(all, e.value)
	}
	named := slices.Clone(g.hosts)
	uses := map[Ref]bool{}
	for _, w := range all {
		uses[w.Ref] = true
		if w.Ref == Named && w.Var != routerConfig && !slices.Contains(named, w.Var) {
			named = append(named, w.Var)
		}
	}
	if uses[ConfigDir] {
		s.line("CONFIG_DIR=$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)")
	}
	if uses[OwnAddress] {
		s.line("OWN_ADDRESS=${OWN_ADDRESS:-$(hostname -I | cut -d ' ' -f 1)}")
	}
	if uses[Workers] {
		s.line(": \"${RPC_WORKERS:?set it to HOST:%d of every rpc worker, separated by commas}\"", llamaRPCPort)
	}
	for _, name := range named {
		s.line(": \"${%s:?set it to the host of that worker}\"", name)
	}
	for _, e := range g.env {
		s.line("export %s=%s", e.name, e.value.shell(shellNames))
	}
	s.b.WriteString(g.write)
}

// shellFiles is one script per group, to be run on each of its nodes.
func (b *builder) shellFiles() (files []File) {
	for i := range b.groups {
		g := &b.groups[i]
		if g.mpi {
			files = append(files, File{Name: g.name + ".sh", Content: b.mpiScript(g), Run: true})
			continue
		}
		s := b.begin(g)
		b.command(s, g)
		files = append(files, File{Name: g.name + ".sh", Content: s.text(), Run: true})
	}
	return append(files, b.configFiles()...)
}

// command ends a script with the command of this node.
func (b *builder) command(s *lines, g *group) {
	if g.follower == nil {
		s.exec("", g.leader)
		return
	}
	s.line("if [ \"$NODE_RANK\" -eq 0 ]; then")
	for _, l := range strings.FieldsFunc(g.await, func(c rune) bool { return c == '\n' }) {
		s.line("  %s", l)
	}
	s.exec("  ", g.leader)
	s.line("fi")
	s.exec("", g.follower)
}
