package launch

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// Pods of an instance that MPI starts reach each other by ssh, with one key pair in a
// secret: the way of kubeflow's MPI operator and of Dynamo's TensorRT-LLM workers. The
// port is not 22, which a node's own sshd holds where pods use the node's network.
const (
	sshPort    = "2222"
	sshDir     = "/etc/ridgeline-ssh"
	sshOptions = "-p " + sshPort + " -i " + sshDir + "/id -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
	sshInstall = "command -v ssh >/dev/null && test -x /usr/sbin/sshd || { apt-get update && apt-get install -y --no-install-recommends openssh-client openssh-server; }"
)

// mpirun is a command under Open MPI's launcher, one process per GPU; hosts holds
// HOST:SLOTS of every node. Messages of MPI itself are few and go over TCP (pml ob1,
// as Dynamo starts it); the engine's own traffic is NCCL's.
func (g *group) mpirun(hosts Word, extra ...string) []Word {
	a := &args{}
	a.add("mpirun", "--allow-run-as-root", "-np", strconv.Itoa(g.nodes*g.gpus))
	a.ref("--host", hosts)
	a.add("--mca", "pml", "ob1")
	a.add(extra...)
	return append(a.words, g.leader...)
}

// mpiPods are the templates of an instance that MPI starts: workers answer ssh, and
// the leader waits for them and starts a process on every GPU.
func (b *builder) mpiPods(g *group) (leader, worker corev1.PodTemplateSpec) {
	leader, worker = b.pod(g, g.leader, kubeNames, true), b.pod(g, g.leader, kubeNames, false)
	mode := int32(0o400)
	for _, p := range []struct {
		spec   *corev1.PodSpec
		script string
	}{{&leader.Spec, b.mpiLeader(g)}, {&worker.Spec, mpiWorker()}} {
		c := &p.spec.Containers[0]
		c.Command = []string{"bash", "-c", Word{Text: p.script}.kube(nil)}
		p.spec.Volumes = append(p.spec.Volumes, corev1.Volume{Name: "ssh", VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: b.sshSecret(), DefaultMode: &mode}}})
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "ssh", MountPath: sshDir, ReadOnly: true})
	}
	return leader, worker
}

// sshSecret is the name of the key pair's secret.
func (b *builder) sshSecret() string { return b.Name + "-ssh" }

// noteSSH says how the secret comes to be; its content is the user's.
func (b *builder) noteSSH() {
	namespace := ""
	if b.Namespace != "" {
		namespace = " --namespace " + b.Namespace
	}
	b.note("the pods of an instance start each other's processes by ssh: before the manifest, make their key with `ssh-keygen -q -t ed25519 -N '' -f id && kubectl create secret generic %s%s --from-file=id --from-file=id.pub`", b.sshSecret(), namespace)
	b.note("pods install OpenSSH when they start where the image %s lacks it: use an image that holds it where there is no way to a package mirror", b.Image)
}

// lwsWorker is the address of worker $I of an instance: the leader's with the index
// behind its first label (kubernetes-sigs/lws: pods NAME-0, NAME-0-1, ...).
const lwsWorker = "${LWS_LEADER_ADDRESS%%.*}-$I.${LWS_LEADER_ADDRESS#*.}"

// mpiLeader waits until every worker answers.
func (b *builder) mpiLeader(g *group) string {
	s := &lines{}
	s.line("set -euo pipefail")
	s.line("%s", sshInstall)
	s.line("HOSTS=\"$(hostname):%d\"", g.gpus)
	s.line("for I in $(seq 1 %d); do", g.nodes-1)
	s.line("  HOST=\"%s\"", lwsWorker)
	s.line("  until ssh %s \"$HOST\" true; do sleep 2; done", sshOptions)
	s.line("  HOSTS=\"$HOSTS,$HOST:%d\"", g.gpus)
	s.line("done")
	names := map[Ref]string{ConfigDir: "CONFIG_DIR"}
	s.line("exec \"$(command -v mpirun)\" %s", shellLines(g.mpirun(Word{Ref: Named, Var: "HOSTS"}, "--mca", "plm_rsh_args", sshOptions)[1:], names, "  "))
	return s.text()
}

// mpiWorker answers ssh with the container's own environment, which sessions do not
// inherit by themselves.
func mpiWorker() string {
	s := &lines{}
	s.line("set -euo pipefail")
	s.line("%s", sshInstall)
	s.line("mkdir -p -m 0755 /run/sshd")
	s.line("mkdir -p -m 0700 ~/.ssh")
	s.line("env >~/.ssh/environment")
	s.line("rm -f /tmp/host_key*")
	s.line("ssh-keygen -q -t ed25519 -N '' -f /tmp/host_key")
	s.line("exec /usr/sbin/sshd -D -e -p %s -h /tmp/host_key -o AuthorizedKeysFile=%s/id.pub \\", sshPort, sshDir)
	s.line("  -o StrictModes=no -o PermitUserEnvironment=yes -o PasswordAuthentication=no -o UsePAM=no")
	return s.text()
}

// mpiScript starts an instance over several nodes from its first one, in a shell.
func (b *builder) mpiScript(g *group) string {
	s := &lines{}
	s.line("#!/usr/bin/env bash")
	s.b.WriteString(comment("#", b.header(b.list)))
	s.line("# run it on one of the %d nodes; the others need ssh, the engine and, where there is one, the", g.nodes)
	s.line("# configuration file at the same places")
	s.line("set -euo pipefail")
	s.line(": \"${HOSTS:?set it to HOST:%d of each of the %d nodes, separated by commas, this one first}\"", g.gpus, g.nodes)
	b.variables(s, g)
	s.line("export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}")
	// By its whole path mpirun finds its own parts on the other nodes.
	exports := []string{"-x", "PATH", "-x", "LD_LIBRARY_PATH"}
	for _, e := range g.env {
		exports = append(exports, "-x", e.name)
	}
	words := g.mpirun(Word{Ref: Named, Var: "HOSTS"}, exports...)
	s.line("exec \"$(command -v mpirun)\" %s", shellLines(words[1:], shellNames, "  "))
	return s.text()
}
