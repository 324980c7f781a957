package launch

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Labels that LeaderWorkerSet puts on pods (api/leaderworkerset/v1).
const (
	lwsNameLabel  = "leaderworkerset.sigs.k8s.io/name"
	lwsIndexLabel = "leaderworkerset.sigs.k8s.io/worker-index"
)

// leaderWorkerSet is the part of leaderworkerset.x-k8s.io/v1 that launch writes;
// Size counts the leader.
type leaderWorkerSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              lwsSpec `json:"spec"`
}

type lwsSpec struct {
	Replicas      int32       `json:"replicas"`
	Template      lwsTemplate `json:"leaderWorkerTemplate"`
	StartupPolicy string      `json:"startupPolicy"`
}

type lwsTemplate struct {
	Leader        *corev1.PodTemplateSpec `json:"leaderTemplate,omitempty"`
	Worker        corev1.PodTemplateSpec  `json:"workerTemplate"`
	Size          int32                   `json:"size"`
	RestartPolicy string                  `json:"restartPolicy"`
}

// leaderWorkerSet runs a group over several nodes: when one pod fails, all of the
// instance start again, as the engine's ranks cannot go on without it.
func (b *builder) leaderWorkerSet(g *group) any {
	first := *g
	first.prepare = strings.Trim(g.prepare+"\n"+g.await, "\n")
	leader := b.pod(&first, g.leader, kubeNames, true)
	follower := g.follower
	if follower == nil {
		follower = g.leader
	}
	worker := b.pod(g, follower, kubeNames, false)
	if g.mpi {
		leader, worker = b.mpiPods(g)
	}
	return &leaderWorkerSet{TypeMeta: metav1.TypeMeta{APIVersion: "leaderworkerset.x-k8s.io/v1", Kind: "LeaderWorkerSet"}, ObjectMeta: b.meta(g, g.name),
		Spec: lwsSpec{Replicas: int32(g.replicas), StartupPolicy: "LeaderCreated",
			Template: lwsTemplate{Leader: &leader, Worker: worker, Size: int32(g.nodes), RestartPolicy: "RecreateGroupOnPodRestart"}}}
}
