package launch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/argv"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// group is the instances of one role: the same command, Replicas times, each on
// Nodes nodes.
type group struct {
	name     string // of its objects and files
	role     string // "", prefill, decode, router, worker
	replicas int
	nodes    int
	gpus     int    // GPUs of a node
	leader   []Word // command on node 0
	follower []Word // command on the other nodes; nil = as the leader's
	sub      string // subcommand, for the flag list
	args     int    // words of the command before the engine's arguments; -1 = the list does not speak of it
	env      []envVar
	files    []File   // configuration files beside the command
	port     int      // 0 = it listens to nobody
	ready    string   // path that answers when it is ready
	mpi      bool     // started once per GPU by MPI
	image    string   // of its containers; "" = the engine's
	prepare  string   // shell line by which a container finds its program
	await    string   // shell lines that node 0 runs before its command
	hosts    []string // variables of a script that hold the hosts it speaks to, where no word names them
	write    string   // lines of a script before its command
	training bool
}

type envVar struct {
	name  string
	value Word
}

// sets tells whether the group's own environment has a variable.
func (g *group) sets(name string) bool {
	return slices.ContainsFunc(g.env, func(e envVar) bool { return e.name == name })
}

// builder collects what the parts of a bundle have to say.
type builder struct {
	*Request
	list     *argv.List
	groups   []group
	paired   bool // two micro-batches overlap, in training
	warnings []string
	notes    []string
}

func (b *builder) warn(format string, args ...any) {
	b.warnings = append(b.warnings, fmt.Sprintf(format, args...))
}

func (b *builder) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(b.notes, n) { // as both roles may have it
		b.notes = append(b.notes, n)
	}
}

// lacks says that the engine has not what the plan asks. It is an error, unless
// the nearest thing was asked for.
func (b *builder) lacks(what, nearest string) error {
	if nearest == "" {
		return fmt.Errorf("%s has no %s: leave it out of the plan", b.Engine, what)
	}
	if !b.Nearest {
		return fmt.Errorf("%s has no %s; nearest is %s: --nearest writes that", b.Engine, what, nearest)
	}
	b.warn("%s has no %s: written is the nearest, %s", b.Engine, what, nearest)
	return nil
}

// spread is how an instance of n GPUs lies on nodes.
func (b *builder) spread(n int) (nodes, gpus int, err error) {
	if n <= b.NodeGPUs {
		return 1, n, nil
	}
	if n%b.NodeGPUs != 0 {
		return 0, 0, fmt.Errorf("%d GPUs do not fill nodes of %d: change a degree or --node-gpus", n, b.NodeGPUs)
	}
	return n / b.NodeGPUs, b.NodeGPUs, nil
}

// checkFlags judges every command by the engine's list.
func (b *builder) checkFlags() error {
	seen := map[string]bool{}
	for _, g := range b.groups {
		for _, words := range [][]Word{g.leader, g.follower} {
			if words == nil || g.args < 0 || words[0].Text != g.leader[0].Text { // another program
				continue
			}
			warnings, err := b.list.Check(g.sub, texts(words)[g.args:])
			if err != nil {
				return err
			}
			for _, w := range warnings {
				if !seen[w] {
					b.warnings, seen[w] = append(b.warnings, w), true
				}
			}
		}
	}
	return nil
}

// role is one kind of instance of a serving plan.
type role struct {
	name     string // "", prefill, decode
	layout   plan.Serving
	replicas int
}

// of names the role in a note.
func (r *role) of() string {
	if r.name == "" {
		return ""
	}
	return " of " + r.name
}

// roles are the kinds of instances that the request asks for.
func (r *Request) roles() []role {
	if r.Split != nil {
		return []role{{prefill, r.Split.Prefill, r.Split.PrefillWorkers}, {decode, r.Split.Decode, r.Split.DecodeWorkers}}
	}
	return []role{{"", *r.Serving, max(r.Serving.Replicas, 1)}}
}

// Build writes a plan for an engine and a target. An error is one line: what the
// plan asks and the engine, the target or the flag list does not have, or an
// arithmetic rule that it breaks, with the mend.
func Build(r *Request) (*Bundle, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	list, err := argv.Load(r.Engine, r.Version)
	if err != nil {
		return nil, err
	}
	asked := *r // of which the nearest may be written
	r = &asked
	b := &builder{Request: r, list: list, warnings: slices.Clone(r.Doubts)}
	if r.Training != nil {
		err = b.training()
	} else {
		err = b.serving()
	}
	if err != nil {
		return nil, err
	}
	for i := range b.groups {
		for _, e := range r.Env {
			name, value, _ := strings.Cut(e, "=")
			b.groups[i].env = slices.DeleteFunc(b.groups[i].env, func(v envVar) bool { return v.name == name }) // the user's own counts
			b.groups[i].env = append(b.groups[i].env, envVar{name, Word{Text: value}})
		}
	}
	if err := b.checkFlags(); err != nil {
		return nil, err
	}
	if err := b.checkTools(); err != nil {
		return nil, err
	}
	files, err := b.render()
	if err != nil {
		return nil, err
	}
	out := &Bundle{Engine: r.Engine, Version: list.Version, FlagList: list.Commit, Target: r.Target, Plan: r.planString(),
		PlanHash: r.hash(), Files: files, Warnings: none(b.warnings), Notes: none(b.notes), Written: r.Training}
	for _, g := range b.groups {
		out.GPUs += g.replicas * g.nodes * g.gpus
	}
	if r.Training == nil {
		out.Bench = b.bench()
	}
	return out, nil
}
