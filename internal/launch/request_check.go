package launch

import (
	"fmt"
	"slices"
	"strings"
)

// maxName is the longest name of an object, so that what is added still fits a DNS
// label of 63.
const maxName = 40

// check judges what a request says by itself.
func (r *Request) check() error {
	plans := 0
	for _, set := range []bool{r.Serving != nil, r.Split != nil, r.Training != nil} {
		if set {
			plans++
		}
	}
	switch {
	case plans != 1:
		return fmt.Errorf("launch needs one plan: give tp, pp, dp and ep")
	case r.NodeGPUs < 1:
		return fmt.Errorf("launch needs the GPUs of a node: give --cluster or --node-gpus")
	case strings.ContainsRune(r.ModelPath, 0) || r.ModelPath == "":
		return fmt.Errorf("model path %q cannot be an argument: give --model-path", r.ModelPath)
	case strings.HasPrefix(r.ModelPath, "-"):
		return fmt.Errorf("model path %q reads as a flag: write ./%s", r.ModelPath, r.ModelPath)
	}
	if strings.HasPrefix(r.Model.Name, "-") || strings.ContainsRune(r.Model.Name, 0) {
		return fmt.Errorf("model name %q cannot be served under: rename the model's file", r.Model.Name)
	}
	if err := r.checkWords(); err != nil {
		return err
	}
	if r.RouterImage != "" && r.Split == nil {
		return fmt.Errorf("--router-image %s is of the router before two roles: leave it out, or give a plan of prefill and decode", r.RouterImage)
	}
	named := map[string]bool{}
	for _, e := range r.Env {
		name, value, ok := strings.Cut(e, "=")
		if !ok || name == "" || strings.Trim(name, envName) != "" || name[0] >= '0' && name[0] <= '9' || strings.ContainsRune(value, 0) {
			return fmt.Errorf("environment %q: write NAME=VALUE", e)
		}
		switch {
		case slices.Contains(ownNames, name):
			return fmt.Errorf("environment %s is set by what is written here, or by the shell itself: leave it out", name)
		case named[name]:
			return fmt.Errorf("environment %s is given twice: keep one", name)
		}
		named[name] = true
	}
	if domain, kind, ok := strings.Cut(r.RDMA, "/"); r.RDMA != "" && (!ok || checkObject("", domain, maxSubdomain, true) != nil || kind == "" || strings.Trim(kind, plainName) != "") {
		return fmt.Errorf("resource %q is none of Kubernetes: write DOMAIN/NAME such as rdma/ib", r.RDMA)
	}
	if err := checkName("name", r.Name); err != nil {
		return err
	}
	for _, o := range []struct {
		what, name string
		longest    int
		dots       bool
	}{{"namespace", r.Namespace, maxLabel, false}, {"volume", r.ModelVolume, maxSubdomain, true}, {"results volume", r.Tools.Results, maxSubdomain, true}} {
		if o.name == "" {
			continue
		}
		if err := checkObject(o.what, o.name, o.longest, o.dots); err != nil {
			return err
		}
	}
	return r.checkTarget()
}

// checkTarget refuses what the target has no place for.
func (r *Request) checkTarget() error {
	volumes := []Target{Kube, Ray, Compose}
	jobs := r.Tools.Workers+r.Tools.Probes > 0
	if !slices.Contains(Targets(), string(r.Target)) {
		return fmt.Errorf("target %q is unknown: use %s", r.Target, strings.Join(Targets(), ", "))
	}
	for _, o := range []struct {
		flag, value string
		on          []Target
	}{
		{"namespace", r.Namespace, []Target{Kube, Ray}}, {"rdma", r.RDMA, []Target{Kube, Ray}}, {"model-volume", r.ModelVolume, volumes},
		{"image", r.Image, append(volumes, Slurm)}, {"router-image", r.RouterImage, append(volumes, Slurm)},
		{"tool-image", r.Tools.Image, []Target{Kube}}, {"results-volume", r.Tools.Results, []Target{Kube}},
	} {
		tool := strings.HasPrefix(o.flag, "tool") || strings.HasPrefix(o.flag, "results")
		switch {
		case o.value == "":
		case !slices.Contains(o.on, r.Target):
			return fmt.Errorf("--%s %s has no place in --target %s: leave it out, or use %s", o.flag, o.value, r.Target, targetNames(o.on))
		case tool && !jobs:
			return fmt.Errorf("--%s %s is of load workers and probes: give --load-workers or --probe-nodes, too, or leave it out", o.flag, o.value)
		}
	}
	return nil
}

func targetNames(list []Target) string {
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}

// ownNames are variables that scripts and manifests set, schedulers set for them, or bash
// does not let be set.
var ownNames = []string{"NODE_RANK", "LEADER_ADDRESS", "CONFIG_DIR", "OWN_ADDRESS", "POD_IP", "RPC_WORKERS", "HOSTS", "COMMAND", "MODEL_CACHE", routerConfig,
	"LWS_WORKER_INDEX", "LWS_LEADER_ADDRESS", "LWS_GROUP_SIZE", "JOB_COMPLETION_INDEX", "SLURM_NODEID",
	"UID", "EUID", "PPID", "BASHOPTS", "SHELLOPTS", "BASH_VERSINFO"}

// envName are the letters of a variable's name.
const envName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// plainName are the letters of a resource's name.
const plainName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

// checkName refuses what Kubernetes refuses as the name of a Service (RFC 1035), and
// names that leave no room for what is added to them.
func checkName(what, name string) error {
	if isLabel(name, maxName) && (name[0] < '0' || name[0] > '9') {
		return nil
	}
	return fmt.Errorf("%s %q is no DNS label of at most %d letters: use a-z, 0-9 and - inside, such as %s", what, name, maxName, Label(name))
}

// checkObject refuses what Kubernetes refuses as the name of an object that somebody else
// made: labels with dots between them (RFC 1123), or one label.
func checkObject(what, name string, longest int, dots bool) error {
	ok := len(name) <= longest
	parts := []string{name}
	if dots {
		parts = strings.Split(name, ".")
	}
	for _, p := range parts {
		ok = ok && isLabel(p, maxLabel)
	}
	if !ok {
		return fmt.Errorf("%s %q is no name of Kubernetes: use a-z, 0-9 and - inside, such as %s", what, name, Label(name))
	}
	return nil
}

// The longest label and name (RFC 1123, as Kubernetes takes them).
const (
	maxLabel     = 63
	maxSubdomain = 253
)

func isLabel(name string, longest int) bool {
	return name != "" && len(name) <= longest && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" &&
		name[0] != '-' && name[len(name)-1] != '-'
}

// Label makes a DNS label of any text, for names that the user did not choose.
func Label(text string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(text) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			b.WriteRune(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	s := strings.Trim(b.String(), "-")
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		s = "m-" + s
	}
	return strings.Trim(s[:min(len(s), maxName)], "-")
}
