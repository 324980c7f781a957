package launch

import "fmt"

// aboutStart says what starts the files, in order.
func (b *builder) aboutStart(line func(string, ...any)) {
	line("")
	line("## Start")
	line("")
	line("```sh")
	switch b.Target {
	case Compose:
		line("docker compose up --detach")
	case Kube:
		b.kubeStart(line)
	default:
		for i := range b.groups {
			line("%s", b.startLine(&b.groups[i]))
		}
	}
	line("```")
}

// kubeStart applies the manifest, waits for what serves and brings it to localhost.
func (b *builder) kubeStart(line func(string, ...any)) {
	namespace := ""
	if b.Namespace != "" {
		namespace = " --namespace " + b.Namespace
	}
	line("kubectl apply --server-side -f %s.yaml", b.Name)
	if b.Training != nil {
		return
	}
	for i := range b.groups {
		g := &b.groups[i]
		kind := "deployment"
		if b.suffix(g) != "" {
			kind = "leaderworkerset"
		}
		line("kubectl wait%s --for=condition=Available --timeout=%ss %s/%s", namespace, startSeconds, kind, g.name)
	}
	line("kubectl port-forward%s service/%s %d # the service, as localhost", namespace, b.entry(), b.entryPort())
}

// startTool is what starts a job of ridgeline itself.
func (b *builder) startTool(suffix string) string {
	switch {
	case b.Target == Kube:
		return "kubectl apply --server-side -f " + b.Name + suffix + ".yaml"
	case suffix == "-load":
		return "SERVICE_HOST=HOST sbatch " + b.Name + suffix + ".sbatch"
	}
	return "sbatch " + b.Name + suffix + ".sbatch"
}

// startLine is what starts a group's script.
func (b *builder) startLine(g *group) string {
	hosts := ""
	for _, name := range g.hosts {
		hosts += name + "=HOST "
	}
	for _, w := range g.leader {
		switch {
		case w.Ref == Named && w.Var != routerConfig:
			hosts += w.Var + "=HOST "
		case w.Ref == Workers && b.Target == Shell:
			hosts += fmt.Sprintf("RPC_WORKERS=HOST:%d,... ", llamaRPCPort)
		}
	}
	switch {
	case b.Target == Slurm:
		return hosts + "sbatch " + g.name + ".sbatch"
	case g.mpi:
		return fmt.Sprintf("HOSTS=NODE_0:%d,NODE_1:%d,... ./%s.sh # on node 0", g.gpus, g.gpus, g.name)
	case g.nodes > 1:
		return fmt.Sprintf("NODE_RANK=0 LEADER_ADDRESS=NODE_0 ./%s.sh # on node 0, and on the others up to NODE_RANK=%d", g.name, g.nodes-1)
	}
	return hosts + "./" + g.name + ".sh"
}

// entryPort is the port that clients reach.
func (b *builder) entryPort() int {
	if b.Split != nil {
		return routerPort
	}
	return b.Serve.Port
}
