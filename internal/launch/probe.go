package launch

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// probePort is where nodes answer each other's probes.
const probePort = 9871

// probeGPUs is how many GPUs a probed node has, 0 where the plan runs on none.
func (b *builder) probeGPUs() int {
	for i := range b.groups {
		if b.groups[i].gpus > 0 {
			return max(b.NodeGPUs, b.groups[i].gpus)
		}
	}
	return 0
}

// probeScript measures this node and, where there are several, the way over TCP to
// the next one in a ring; dir takes the records, and next expands to that node's
// address. A node answers until all have measured.
func (b *builder) probeScript(s *lines, rank, dir, next string) {
	name, n := b.Name+"-probe", b.Tools.Probes
	s.line("cd %s", dir)
	s.line("ridgeline probe --out \"%s-%s.json\"", name, rank)
	if b.probeGPUs() > 0 {
		s.line("ridgeline probe gpu --out \"%s-%s-gpu.json\" || echo 'the GPUs of this node were not measured' >&2", name, rank)
	}
	if n == 1 {
		return
	}
	s.line("ridgeline probe tcp --listen 0.0.0.0:%d &", probePort)
	s.line("until ridgeline probe tcp --to \"%s:%d\" --out \"%s-%s-tcp.json\"; do sleep 5; done", next, probePort, name, rank)
	s.line("until [ \"$(ls %s-*-tcp.json | wc -l)\" -ge %d ]; do sleep 5; done", name, n)
	s.line("kill \"$!\"")
}

// probeJob runs the probes as an Indexed Job under a headless service, which gives
// its pods names.
func (b *builder) probeJob() []any {
	g := &group{name: b.Name + "-probe", role: "probe"}
	s := &lines{}
	s.line("set -euo pipefail")
	next := fmt.Sprintf("%s-$(((JOB_COMPLETION_INDEX + 1) %% %d)).%s", g.name, b.Tools.Probes, g.name)
	b.probeScript(s, "$JOB_COMPLETION_INDEX", resultsDir, next)
	c := corev1.Container{Name: "probe", Command: []string{"bash", "-c", Word{Text: s.text()}.kube(nil)}}
	b.resources(&group{gpus: b.probeGPUs(), nodes: 1}, &c)
	job := b.toolJob(g, b.Tools.Probes, c)
	job.Spec.Template.Spec.Subdomain = g.name
	// One pod a node: two on one share its memory's bandwidth.
	job.Spec.Template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname,
			LabelSelector: &metav1.LabelSelector{MatchLabels: b.labels(g)}}}}}
	if b.Tools.Probes == 1 {
		return []any{job}
	}
	return []any{b.headless(g), job}
}

// probeArray runs them as one Slurm job over the nodes: a job array's tasks need not
// run at the same time, and both ends of a way must.
func (b *builder) probeArray() File {
	name := b.Name + "-probe"
	s := b.sbatch(name, b.Tools.Probes)
	s.line("#SBATCH --exclusive")
	if n := b.probeGPUs(); n > 0 {
		s.line("#SBATCH --gpus-per-node=%d", n)
	}
	s.line("#SBATCH --output=%s-%%j.log", name)
	s.b.WriteString(comment("#", b.header(b.list)))
	s.line("set -euo pipefail")
	s.line("export NODES=\"$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | tr '\\n' ' ')\"")
	s.line("COMMAND=$(cat <<'%s'", heredoc)
	s.line("set -euo pipefail")
	s.line("read -ra HOSTS <<<\"$NODES\"")
	next := fmt.Sprintf("${HOSTS[(SLURM_NODEID + 1) %% %d]}", b.Tools.Probes)
	b.probeScript(s, "$SLURM_NODEID", "\"$SLURM_SUBMIT_DIR\"", next)
	s.line("%s", heredoc)
	s.line(")")
	s.line("srun bash -c \"$COMMAND\"")
	return File{Name: name + ".sbatch", Content: s.text(), Run: true}
}
