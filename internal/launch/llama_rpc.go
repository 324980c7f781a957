package launch

import (
	"fmt"
	"strconv"
)

// llamaRPCPort is where rpc workers listen by default (tools/rpc/README.md).
const llamaRPCPort = 50052

// rpcWait waits until every worker takes a connection: the server ends at once where one
// does not.
const rpcWait = `for W in ${RPC_WORKERS//,/ }; do
  until (exec 3<>"/dev/tcp/${W%:*}/${W#*:}") 2>/dev/null; do sleep 2; done
done`

// llamaWorkers makes an rpc worker of every node beyond the first, which serves. In a
// shell they are scripts of their own, whose addresses RPC_WORKERS holds; elsewhere the
// scheduler names the nodes of an instance.
func (b *builder) llamaWorkers(g *group, a *args) error {
	w := &args{}
	w.add("rpc-server", "-H", "0.0.0.0", "-p", strconv.Itoa(llamaRPCPort), "-c")
	a.ref("--rpc", Word{Ref: Workers})
	g.leader = a.words
	switch b.Target {
	case Shell:
		b.groups = append(b.groups, group{name: b.Name + "-rpc", role: "worker", replicas: g.nodes - 1, nodes: 1, gpus: g.gpus, leader: w.words, args: -1})
		g.nodes = 1
	case Slurm:
		g.follower, g.await = w.words, rpcWait
	case Kube: // workers are named as those of MPI
		g.follower = w.words
		g.await = fmt.Sprintf("RPC_WORKERS=$(for I in $(seq 1 %d); do echo \"%s:%d\"; done | paste -sd , -)\n%s", g.nodes-1, lwsWorker, llamaRPCPort, rpcWait)
		b.note("the image must hold rpc-server beside llama-server, as the project's full images do")
	default:
		return fmt.Errorf("llamacpp's rpc workers do not run on --target %s: use --target shell, slurm or k8s, or pp=%d on one node", b.Target, b.NodeGPUs)
	}
	b.note("rpc-server is unencrypted and trusts every client (tools/rpc/README.md): keep port %d on a private network", llamaRPCPort)
	return nil
}
