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
		line("kubectl apply --server-side -f %s.yaml", b.Name)
		if b.Training == nil {
			line("kubectl port-forward service/%s %d # the service, as localhost", b.entry(), b.entryPort())
		}
	default:
		for i := range b.groups {
			line("%s", b.startLine(&b.groups[i]))
		}
	}
	line("```")
}

// startLine is what starts a group's script.
func (b *builder) startLine(g *group) string {
	hosts := ""
	for _, w := range g.leader {
		switch {
		case w.Ref == Named:
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
