package launch

import (
	"cmp"
	"fmt"
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
	a, host := &args{}, "localhost"
	if b.whoServes() != "" {
		host = serviceHost
	}
	a.add("ridgeline", "bench", "--url", fmt.Sprintf("http://%s:%d/v1", host, b.entryPort()), "--model", b.servedName())
	a.count("--isl", cmp.Or(b.Serve.ISL, usualLength))
	a.count("--osl", cmp.Or(b.Serve.OSL, usualLength))
	a.add("--concurrency", cmp.Or(b.Serve.Concurrency, usualLevels))
	a.add("--json")
	return shellLines(a.words, nil, "  ")
}

// aboutEvaluation says how the service is measured.
func (b *builder) aboutEvaluation(line func(string, ...any)) {
	line("")
	line("## Evaluate")
	line("")
	line("```sh\n%s\n```", b.bench())
	line("")
	if who := b.whoServes(); who != "" {
		line("%s", who)
	}
	if g := &b.groups[0]; g.replicas > 1 && b.Split == nil && b.Target == Kube {
		line("A port-forward reaches one of the %d pods: evaluate all of them from inside the cluster (--load-workers) or through your ingress.", g.replicas)
	} else if g.replicas > 1 && b.Split == nil && b.Target == Compose {
		line("That is one of the %d instances, on ports from %d on; nothing balances between them.", g.replicas, g.port)
	}
	if n := b.Tools.Workers; n > 0 {
		line("Or from %d workers at once, each with its share of every level, when the service is ready: `%s`. `ridgeline bench merge %s-load-*.jsonl` joins what they recorded.", n, b.startTool("-load"), b.Name)
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

// serviceHost stands for the host of the service where no target brings it to the one
// that evaluates.
const serviceHost = "SERVICE_HOST"

// whoServes says which host serviceHost is, "" where the service is on localhost.
func (b *builder) whoServes() string {
	g := &b.groups[0]
	if b.Split != nil || g.role == "worker" { // a router, and what rpc workers serve, is the last
		g = &b.groups[len(b.groups)-1]
	}
	switch {
	case b.Target == Kube || b.Target == Compose:
		return ""
	case g.replicas > 1:
		return fmt.Sprintf("Nothing balances between the %d instances: %s is the load balancer that you put before them.", g.replicas, serviceHost)
	case b.Target == Slurm:
		return fmt.Sprintf("%s is the first node of the job: `squeue --name=%s --format=%%N`.", serviceHost, g.name)
	case g.nodes > 1:
		return serviceHost + " is node 0."
	case len(b.groups) > 1:
		return fmt.Sprintf("%s is the host on which %s.sh runs.", serviceHost, g.name)
	}
	return ""
}
