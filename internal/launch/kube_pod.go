package launch

import (
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The variables that Kubernetes and LeaderWorkerSet set in pods; LEADER_ADDRESS,
// CONFIG_DIR and POD_IP are the manifest's own.
var (
	kubeNames = map[Ref]string{NodeRank: "LWS_WORKER_INDEX", Leader: "LWS_LEADER_ADDRESS", ConfigDir: "CONFIG_DIR", OwnAddress: "POD_IP", Workers: "RPC_WORKERS"}
	jobNames  = map[Ref]string{NodeRank: "JOB_COMPLETION_INDEX", Leader: "LEADER_ADDRESS", ConfigDir: "CONFIG_DIR", OwnAddress: "POD_IP"}
)

// Where volumes are mounted.
const (
	modelDir  = "/models"
	configDir = "/etc/ridgeline"
)

// gpuResource is what the NVIDIA device plugin offers.
const gpuResource = "nvidia.com/gpu"

// pod is the template of a group's pods: one container with the node's GPUs, shared
// memory for NCCL, the model's volume and, where it answers, probes.
func (b *builder) pod(g *group, words []Word, names map[Ref]string, answers bool) corev1.PodTemplateSpec {
	c := corev1.Container{Name: "engine", Image: b.imageOf(g), Env: b.podEnv(g, words, names)}
	if counts(words) || g.prepare != "" {
		script := Word{Text: podScript(g, words, names)}
		c.Command = []string{"bash", "-c", script.kube(names)} // dollars are the shell's
	} else {
		for _, w := range words {
			c.Command = append(c.Command, w.kube(names))
		}
	}
	links := false // which a service of the name vllm would set as VLLM_PORT, an URL that vLLM refuses
	spec := corev1.PodSpec{EnableServiceLinks: &links, Volumes: []corev1.Volume{{Name: "shm", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}}}}
	c.VolumeMounts = []corev1.VolumeMount{{Name: "shm", MountPath: "/dev/shm"}}
	if b.ModelVolume != "" {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "models", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: b.ModelVolume}}})
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "models", MountPath: modelDir})
	}
	if len(g.files) > 0 {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "config", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: g.name + "-config"}}}})
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "config", MountPath: configDir, ReadOnly: true})
	}
	b.resources(g, &c)
	if answers {
		c.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: int32(g.port)}}
		probes(g, &c)
	}
	spec.Containers = []corev1.Container{c}
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: b.labels(g)}, Spec: spec}
}

// resources asks for the node's GPUs and, beside them, RDMA devices, which need
// locked memory.
func (b *builder) resources(g *group, c *corev1.Container) {
	if g.gpus == 0 {
		return
	}
	n := *resource.NewQuantity(int64(g.gpus), resource.DecimalSI)
	limits := corev1.ResourceList{gpuResource: n}
	if b.RDMA != "" && g.nodes == 1 && b.Split == nil {
		b.note("%s asks for no %s: its GPUs are all in one node", g.name, b.RDMA)
	} else if b.RDMA != "" {
		limits[corev1.ResourceName(b.RDMA)] = n
		c.SecurityContext = &corev1.SecurityContext{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"IPC_LOCK"}}}
	}
	c.Resources = corev1.ResourceRequirements{Limits: limits, Requests: limits}
}

// Loading a large model takes long: it may take an hour before a pod is given up.
const (
	probePeriod  = 10
	startPeriods = 360
)

// probeTimeout is how long a probe waits for its answer. SGLang generates a token for
// /health, looks for it once a second and waits as long as this before it says no
// (sglang/srt/entrypoints/http_server.py: SGLANG_HEALTH_CHECK_TIMEOUT); Kubernetes'
// own second would never see it ready.
const probeTimeout = 20

// probes wait for the engine to load, then for it to answer.
func probes(g *group, c *corev1.Container) {
	ask := corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: g.ready, Port: intstr.FromInt(g.port)}}
	c.StartupProbe = &corev1.Probe{ProbeHandler: ask, PeriodSeconds: probePeriod, TimeoutSeconds: probeTimeout, FailureThreshold: startPeriods}
	c.ReadinessProbe = &corev1.Probe{ProbeHandler: ask, PeriodSeconds: probePeriod, TimeoutSeconds: probeTimeout}
	c.LivenessProbe = &corev1.Probe{ProbeHandler: ask, PeriodSeconds: 3 * probePeriod, TimeoutSeconds: probeTimeout, FailureThreshold: 10}
}

// podEnv is the environment that words and the group refer to.
func (b *builder) podEnv(g *group, words []Word, names map[Ref]string) (env []corev1.EnvVar) {
	uses := func(r Ref) bool {
		return slices.ContainsFunc(words, func(w Word) bool { return w.Ref == r }) ||
			slices.ContainsFunc(g.env, func(e envVar) bool { return e.value.Ref == r })
	}
	if uses(OwnAddress) || uses(Leader) && names[Leader] == names[OwnAddress] {
		env = append(env, corev1.EnvVar{Name: names[OwnAddress], ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}})
	}
	if uses(ConfigDir) {
		env = append(env, corev1.EnvVar{Name: "CONFIG_DIR", Value: configDir})
	}
	for _, e := range g.env {
		env = append(env, corev1.EnvVar{Name: e.name, Value: e.value.kube(names)})
	}
	if path.IsAbs(b.ModelPath) || g.role == "router" {
		return env
	}
	if b.ModelVolume != "" && !g.sets("HF_HOME") {
		env = append(env, corev1.EnvVar{Name: "HF_HOME", Value: modelDir})
	}
	if g.sets("HF_TOKEN") {
		return env
	}
	optional := true
	return append(env, corev1.EnvVar{Name: "HF_TOKEN", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: hubSecret}, Key: "token", Optional: &optional}}})
}

// hubSecret holds the token of the model hub, where the cluster has one.
const hubSecret = "hf-token"
