package launch

import (
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Tools asks for jobs of ridgeline itself on the cluster's scheduler: workers that put
// the evaluation's load on the service together, each with its part of every level of
// concurrency, and probes that measure nodes and the way between them.
type Tools struct {
	Workers int
	Probes  int    // nodes to measure
	Image   string // k8s: an image that holds ridgeline
	Results string // k8s: a PersistentVolumeClaim that takes what they record
	Levels  []int  // concurrency at the service
}

// checkTools refuses levels that the workers cannot share evenly: a part of one
// request more on some of them would not be the level that was asked for.
func (b *builder) checkTools() error {
	l := &b.Tools
	switch {
	case l.Workers == 0 && l.Probes == 0:
		return nil
	case b.Target != Kube && b.Target != Slurm:
		return fmt.Errorf("load workers and probes run on a cluster's scheduler: use --target k8s or slurm, not %s", b.Target)
	case b.Target == Kube && l.Image == "":
		return fmt.Errorf("load workers and probes need an image that holds ridgeline: give --tool-image")
	case b.Target == Kube && l.Results == "":
		return fmt.Errorf("load workers and probes leave records: give --results-volume, a claim that all of them may write")
	case l.Workers == 0:
		return nil
	case b.Training != nil:
		return fmt.Errorf("load workers evaluate a service: leave --load-workers out of training")
	case b.Serve.ISL == 0 || b.Serve.OSL == 0 || len(l.Levels) == 0:
		return fmt.Errorf("load workers need the load: give --isl, --osl and --concurrency")
	}
	for _, n := range l.Levels {
		if n%l.Workers != 0 {
			return fmt.Errorf("concurrency %d does not divide over %d load workers: use multiples of %d", n, l.Workers, l.Workers)
		}
	}
	return nil
}

// resultsDir is where the volume of results is mounted.
const resultsDir = "/results"

// loadWords is the command of one worker, which records every request beside its
// report: bench merge joins the records.
func (b *builder) loadWords(host, results Word) []Word {
	levels := make([]string, len(b.Tools.Levels))
	for i, n := range b.Tools.Levels {
		levels[i] = strconv.Itoa(n / b.Tools.Workers)
	}
	host.Text, host.After = "http://"+host.Text, ":"+strconv.Itoa(b.entryPort())+"/v1"
	a := &args{}
	a.add("ridgeline", "bench")
	a.ref("--url", host)
	a.add("--model", b.servedName())
	a.count("--isl", b.Serve.ISL)
	a.count("--osl", b.Serve.OSL)
	a.add("--concurrency", strings.Join(levels, ","))
	a.ref("--worker", Word{Ref: NodeRank})
	a.ref("--records", results)
	a.add("--json")
	return a.words
}

// entry is the name of the service that clients reach.
func (b *builder) entry() string {
	for i := range b.groups {
		if g := &b.groups[i]; g.role == "router" {
			return g.name
		}
	}
	return b.groups[0].name + b.suffix(&b.groups[0])
}

// loadJob runs the workers as an Indexed Job; the log of each is its own report.
func (b *builder) loadJob() any {
	g := &group{name: b.Name + "-load", role: "load"}
	c := corev1.Container{Name: "bench"}
	results := Word{Text: resultsDir + "/" + g.name + "-", Ref: NodeRank, After: ".jsonl"}
	for _, w := range b.loadWords(Word{Text: b.entry()}, results) {
		c.Command = append(c.Command, w.kube(jobNames))
	}
	return b.toolJob(g, b.Tools.Workers, c)
}

// toolJob is an Indexed Job of n pods that run ridgeline once each and write to the
// results' volume.
func (b *builder) toolJob(g *group, n int, c corev1.Container) *batchv1.Job {
	pods, retries := int32(n), int32(0)
	mode := batchv1.IndexedCompletion
	c.Image = b.Tools.Image
	c.VolumeMounts = []corev1.VolumeMount{{Name: "results", MountPath: resultsDir}}
	links := false
	spec := corev1.PodSpec{EnableServiceLinks: &links, RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{c},
		Volumes: []corev1.Volume{{Name: "results", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: b.Tools.Results}}}}}
	return &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: b.meta(g, g.name),
		Spec: batchv1.JobSpec{Completions: &pods, Parallelism: &pods, CompletionMode: &mode, BackoffLimit: &retries,
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: b.labels(g)}, Spec: spec}}}
}

// arrayNames are the variables of a job array's tasks.
var arrayNames = map[Ref]string{NodeRank: "SLURM_ARRAY_TASK_ID"}

// loadArray runs them as a Slurm array; each task's stdout is its report.
func (b *builder) loadArray() File {
	name := b.Name + "-load"
	s := b.sbatch(name, 1)
	s.line("#SBATCH --array=0-%d", b.Tools.Workers-1)
	s.line("#SBATCH --output=%s-%%a.json", name)
	s.line("#SBATCH --error=%s-%%a.log", name)
	s.b.WriteString(comment("#", b.header(b.list)))
	s.line("set -euo pipefail")
	s.line(": \"${SERVICE_HOST:?set it to the host that serves}\"")
	results := Word{Text: name + "-", Ref: NodeRank, After: ".jsonl"}
	s.line("exec %s", shellLines(b.loadWords(Word{Ref: Named, Var: "SERVICE_HOST"}, results), arrayNames, "  "))
	return File{Name: name + ".sbatch", Content: s.text(), Run: true}
}

// sbatch begins a Slurm script of one task on each of some nodes.
func (b *builder) sbatch(name string, nodes int) *lines {
	s := &lines{}
	s.line("#!/usr/bin/env bash")
	s.line("#SBATCH --job-name=%s", name)
	s.line("#SBATCH --nodes=%d", nodes)
	s.line("#SBATCH --ntasks-per-node=1")
	return s
}
