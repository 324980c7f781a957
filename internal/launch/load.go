package launch

import (
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Load asks for workers that put the evaluation's load on the service together:
// each takes its part of every level of concurrency.
type Load struct {
	Workers int
	Image   string // k8s: an image that holds ridgeline
	Levels  []int  // concurrency at the service
}

// checkLoad refuses levels that the workers cannot share evenly: a part of one
// request more on some of them would not be the level that was asked for.
func (b *builder) checkLoad() error {
	l := &b.Load
	switch {
	case l.Workers == 0:
		return nil
	case b.Target != Kube && b.Target != Slurm:
		return fmt.Errorf("load workers run on a cluster's scheduler: use --target k8s or slurm, not %s", b.Target)
	case b.Training != nil:
		return fmt.Errorf("load workers evaluate a service: leave --load-workers out of training")
	case b.Target == Kube && l.Image == "":
		return fmt.Errorf("load workers need an image that holds ridgeline: give --load-image")
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

// loadWords is the command of one worker.
func (b *builder) loadWords(host Word) []Word {
	port, levels := b.Serve.Port, make([]string, len(b.Load.Levels))
	if b.Split != nil {
		port = routerPort
	}
	for i, n := range b.Load.Levels {
		levels[i] = strconv.Itoa(n / b.Load.Workers)
	}
	host.Text, host.After = "http://"+host.Text, ":"+strconv.Itoa(port)+"/v1"
	a := &args{}
	a.add("ridgeline", "bench")
	a.ref("--url", host)
	a.add("--model", b.servedName())
	a.count("--isl", b.Serve.ISL)
	a.count("--osl", b.Serve.OSL)
	a.add("--concurrency", strings.Join(levels, ","), "--json")
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

// loadJob runs the workers as an Indexed Job; each prints its document.
func (b *builder) loadJob() any {
	g := &group{name: b.Name + "-load", role: "load"}
	n, retries := int32(b.Load.Workers), int32(0)
	mode := batchv1.IndexedCompletion
	c := corev1.Container{Name: "bench", Image: b.Load.Image}
	for _, w := range b.loadWords(Word{Text: b.entry()}) {
		c.Command = append(c.Command, w.kube(kubeNames))
	}
	return &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}, ObjectMeta: b.meta(g, g.name),
		Spec: batchv1.JobSpec{Completions: &n, Parallelism: &n, CompletionMode: &mode, BackoffLimit: &retries,
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: b.labels(g)},
				Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{c}}}}}
}

// loadArray runs them as a Slurm array; each task's stdout is its document.
func (b *builder) loadArray() File {
	name := b.Name + "-load"
	s := &lines{}
	s.line("#!/usr/bin/env bash")
	s.line("#SBATCH --job-name=%s", name)
	s.line("#SBATCH --nodes=1")
	s.line("#SBATCH --ntasks=1")
	s.line("#SBATCH --array=0-%d", b.Load.Workers-1)
	s.line("#SBATCH --output=%s-%%a.json", name)
	s.line("#SBATCH --error=%s-%%a.log", name)
	s.b.WriteString(comment("#", b.header(b.list)))
	s.line("set -euo pipefail")
	s.line(": \"${SERVICE_HOST:?set it to the host that serves}\"")
	s.exec("", b.loadWords(Word{Ref: Named, Var: "SERVICE_HOST"}))
	return File{Name: name + ".sbatch", Content: s.text(), Run: true}
}
