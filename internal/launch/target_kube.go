package launch

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// kubeFiles is one manifest with every object of the service or run, in the order in
// which they are applied: configuration, services, workloads.
func (b *builder) kubeFiles() ([]File, error) {
	if err := b.needsImage(); err != nil {
		return nil, err
	}
	var objects []any
	if slices.ContainsFunc(b.groups, func(g group) bool { return g.mpi }) {
		b.noteSSH()
	}
	for i := range b.groups {
		g := &b.groups[i]
		if b.RDMA == "" && (g.nodes > 1 || b.Split != nil && g.gpus > 0) {
			b.note("no RDMA resource was named, so the pods of %s talk to others over the pod network: --rdma names one", g.name)
		}
		if len(g.files) > 0 {
			objects = append(objects, b.configMap(g))
		}
		switch {
		case g.training:
			objects = append(objects, b.headless(g), b.job(g))
		case g.nodes > 1 || b.Split != nil && g.role != "router":
			objects = append(objects, b.service(g, map[string]string{lwsNameLabel: g.name, lwsIndexLabel: "0"}), b.leaderWorkerSet(g))
		default:
			objects = append(objects, b.service(g, b.labels(g)), b.deployment(g))
		}
	}
	tools := map[string][]any{} // files of their own: load runs when the service is ready, probes when its GPUs are free
	if b.Tools.Workers > 0 {
		tools["-load"] = []any{b.loadJob()}
	}
	if b.Tools.Probes > 0 {
		tools["-probe"] = b.probeJob()
	}
	text, err := b.manifests(objects)
	files := []File{{Name: b.Name + ".yaml", Content: text}}
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		if err != nil {
			break
		}
		text, err = b.manifests(tools[name])
		files = append(files, File{Name: b.Name + name + ".yaml", Content: text})
	}
	return files, err
}

// manifests writes objects under one header.
func (b *builder) manifests(objects []any) (string, error) {
	var text strings.Builder
	text.WriteString(comment("#", b.header(b.list)))
	for _, o := range objects {
		y, err := manifest(o)
		if err != nil {
			return "", err
		}
		text.WriteString("---\n" + y)
	}
	return text.String(), nil
}

// manifest writes an object without the fields that only a server fills.
func manifest(o any) (string, error) {
	b, err := json.Marshal(o)
	if err != nil {
		return "", err
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		return "", err
	}
	delete(m, "status")
	dropNulls(m)
	return yamlText(m)
}

// dropNulls removes keys without a value, and resources without one.
func dropNulls(m map[string]any) {
	for k, v := range m {
		switch v := v.(type) {
		case nil:
			delete(m, k)
		case map[string]any:
			if dropNulls(v); len(v) == 0 && (k == "resources" || k == "strategy" || k == "metadata" || k == "loadBalancer") {
				delete(m, k)
			}
		case []any:
			for _, e := range v {
				if e, ok := e.(map[string]any); ok {
					dropNulls(e)
				}
			}
		}
	}
}

// labels find a group's pods; meta is an object's metadata with them and with what
// it was made from.
func (b *builder) labels(g *group) map[string]string {
	return map[string]string{"app.kubernetes.io/name": b.Name, componentLabel: component(g)}
}

// componentLabel says the role of a workload.
const componentLabel = "app.kubernetes.io/component"

func component(g *group) string {
	if g.role == "" {
		return map[bool]string{true: "train", false: "serve"}[g.training]
	}
	return g.role
}

func (b *builder) meta(g *group, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: b.Namespace, Labels: b.labels(g), Annotations: map[string]string{
		"ridgeline/plan": b.planString(), "ridgeline/plan-hash": b.hash(), "ridgeline/flag-list": b.Engine + " " + b.list.Version}}
}

func (b *builder) configMap(g *group) any {
	data := map[string]string{}
	for _, f := range g.files {
		data[f.Name] = f.Content
	}
	return &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: b.meta(g, g.name+"-config"), Data: data}
}

func (b *builder) service(g *group, selector map[string]string) any {
	return &corev1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: b.meta(g, g.name+b.suffix(g)),
		Spec: corev1.ServiceSpec{Selector: selector, Ports: []corev1.ServicePort{{Name: "http", Port: int32(g.port), TargetPort: intstr.FromInt(g.port)}}}}
}

// suffix keeps a service apart from the headless one that a LeaderWorkerSet makes
// under its own name.
func (b *builder) suffix(g *group) string {
	if g.nodes > 1 || b.Split != nil && g.role != "router" {
		return "-api"
	}
	return ""
}

// headless gives the pods of a training job names.
func (b *builder) headless(g *group) any {
	return &corev1.Service{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: b.meta(g, g.name),
		Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: b.labels(g), PublishNotReadyAddresses: true}}
}

func (b *builder) deployment(g *group) any {
	n, deadline := int32(g.replicas), int32(probePeriod*startPeriods) // of loading, as the startup probe's
	strategy := appsv1.DeploymentStrategy{}
	if g.gpus > 0 { // a rolling update would need as many GPUs again
		strategy.Type = appsv1.RecreateDeploymentStrategyType
	}
	return &appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: b.meta(g, g.name),
		Spec: appsv1.DeploymentSpec{Replicas: &n, Strategy: strategy, ProgressDeadlineSeconds: &deadline, Selector: &metav1.LabelSelector{MatchLabels: b.labels(g)},
			Template: b.pod(g, g.leader, kubeNames, true)}}
}

// job runs a training group: an Indexed Job, one pod per node, which meet at the
// first one's name.
func (b *builder) job(g *group) any {
	n, retries := int32(g.nodes), int32(0)
	mode := batchv1.IndexedCompletion
	pod := b.pod(g, g.leader, jobNames, false)
	pod.Spec.RestartPolicy, pod.Spec.Subdomain = corev1.RestartPolicyNever, g.name
	c := &pod.Spec.Containers[0]
	if g.nodes > 1 {
		c.Env = append([]corev1.EnvVar{{Name: "LEADER_ADDRESS", Value: g.name + "-0." + g.name}}, c.Env...)
	}
	return &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: b.meta(g, g.name),
		Spec: batchv1.JobSpec{Completions: &n, Parallelism: &n, CompletionMode: &mode, BackoffLimit: &retries, Template: pod}}
}
