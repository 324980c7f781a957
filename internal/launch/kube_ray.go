package launch

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Labels that KubeRay puts on pods, and its switch for containers that start Ray
// themselves: their command finds `ray start` with all its flags in
// KUBERAY_GEN_RAY_START_CMD (ray-operator/controllers/ray/utils/constant.go).
const (
	rayClusterLabel = "ray.io/cluster"
	rayTypeLabel    = "ray.io/node-type"
	rayOwnCommand   = "ray.io/overwrite-container-cmd"
)

// rayNames are the variables of a Ray pod: the engine runs on the head, whose own
// address is the leader's.
var rayNames = map[Ref]string{Leader: "POD_IP", OwnAddress: "POD_IP", ConfigDir: "CONFIG_DIR"}

// rayCluster is the part of ray.io/v1 that launch writes.
type rayCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              rayClusterSpec `json:"spec"`
}

type rayClusterSpec struct {
	Head    rayHead      `json:"headGroupSpec"`
	Workers []rayWorkers `json:"workerGroupSpecs,omitempty"`
}

type rayHead struct {
	Params   map[string]string      `json:"rayStartParams"`
	Template corev1.PodTemplateSpec `json:"template"`
}

// rayWorkers is a fixed number of equal nodes: an engine's ranks neither join nor
// leave while it runs.
type rayWorkers struct {
	Name     string                 `json:"groupName"`
	Replicas int32                  `json:"replicas"`
	Min      int32                  `json:"minReplicas"`
	Max      int32                  `json:"maxReplicas"`
	Params   map[string]string      `json:"rayStartParams"`
	Template corev1.PodTemplateSpec `json:"template"`
}

// rayManifest is a RayCluster and a Service for every instance of every group.
func (b *builder) rayManifest() (File, error) {
	if err := b.needsImage(); err != nil {
		return File{}, err
	}
	var objects []any
	for i := range b.groups {
		g := &b.groups[i]
		if g.role == "router" {
			r := b.rayRouter(*g)
			objects = append(objects, b.service(r, b.labels(r)), b.deployment(r))
			continue
		}
		for n := range g.replicas {
			name := rayName(g, n)
			objects = append(objects, b.rayService(g, name), b.rayCluster(g, name))
		}
	}
	b.note("%s-raycluster.yaml is the same on Kubernetes, for the KubeRay operator; its image must hold Ray beside %s", b.Name, b.Engine)
	text, err := b.manifests(objects)
	return File{Name: b.Name + "-raycluster.yaml", Content: text}, err
}

// rayName is the name of an instance's cluster.
func rayName(g *group, n int) string {
	if g.replicas > 1 {
		return fmt.Sprintf("%s-%d", g.name, n)
	}
	return g.name
}

// rayRouter is the router with the hosts of the instances' services in place of the
// variables that its script takes.
func (b *builder) rayRouter(g group) *group {
	hosts := map[string]string{}
	for i := range b.groups {
		for n := range b.groups[i].replicas {
			o := &b.groups[i]
			hosts[hostVariable(o.role, n)] = rayName(o, n) + "-api"
		}
	}
	words := make([]Word, len(g.leader))
	for i, w := range g.leader {
		if words[i] = w; w.Ref == Named {
			words[i] = Word{Text: w.Text + hosts[w.Var] + w.After}
		}
	}
	g.leader = words
	return &g
}

func (b *builder) rayService(g *group, name string) any {
	s := b.service(g, map[string]string{rayClusterLabel: name, rayTypeLabel: "head"}).(*corev1.Service)
	s.Name = name + "-api" // KubeRay makes NAME-head-svc for Ray's own ports
	return s
}

// rayCluster runs the engine on the head once every node has joined.
func (b *builder) rayCluster(g *group, name string) any {
	head := b.pod(g, g.leader, rayNames, false)
	c := &head.Spec.Containers[0]
	c.Name, c.Command = "ray-head", []string{"bash", "-c"}
	c.Args = []string{Word{Text: b.rayHeadScript(g)}.kube(nil)} // dollars are the shell's
	c.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: int32(g.port)}}
	cluster := &rayCluster{TypeMeta: metav1.TypeMeta{APIVersion: "ray.io/v1", Kind: "RayCluster"}, ObjectMeta: b.meta(g, name)}
	cluster.Annotations[rayOwnCommand] = "true"
	cluster.Spec.Head = rayHead{map[string]string{}, head}
	if n := int32(g.nodes - 1); n > 0 {
		worker := b.pod(g, nil, rayNames, false)
		w := &worker.Spec.Containers[0]
		w.Name, w.Command, w.Args = "ray-worker", []string{"bash", "-c"}, []string{"exec $$KUBERAY_GEN_RAY_START_CMD"}
		cluster.Spec.Workers = []rayWorkers{{"nodes", n, n, n, map[string]string{}, worker}}
	}
	return cluster
}

// rayHeadScript starts Ray, waits for the nodes and becomes the engine.
func (b *builder) rayHeadScript(g *group) string {
	s := &lines{}
	s.line("set -euo pipefail")
	s.line("$KUBERAY_GEN_RAY_START_CMD &")
	b.rayWait(s, g)
	s.line("exec %s", shellLines(g.leader, rayNames, "  "))
	return s.text()
}

// rayWait waits until every node of an instance has joined its Ray cluster.
func (b *builder) rayWait(s *lines, g *group) {
	s.line("until [ \"$(ray status 2>/dev/null | grep -c ' node_')\" -ge %d ]; do sleep 2; done", g.nodes)
}
