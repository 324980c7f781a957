package launch

import (
	"fmt"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// routerPort is where clients of a disaggregated service connect.
const routerPort = 8080

// The router of the vLLM project (vllm-project/router) is a package beside the engine;
// the version is that of its newest release on PyPI in November 2026. It pairs prefill
// with decode over NixlConnector: --vllm-pd-disaggregation with a URL of each instance.
const (
	vllmRouterVersion = "0.1.17"
	vllmRouterPackage = "python3 -m pip install --quiet vllm-router==" + vllmRouterVersion
	vllmRouterInstall = "command -v vllm-router >/dev/null || " + vllmRouterPackage
	vllmRouterCheck   = "command -v vllm-router >/dev/null || { echo 'vllm-router is not installed here: " + vllmRouterPackage + "' >&2; exit 1; }"
)

// startSeconds is how long routers wait for their workers to load, as long as the
// startup probes do; their own defaults (TensorRT-LLM's 180 s) are shorter than a large
// model's loading.
var startSeconds = strconv.Itoa(probePeriod * startPeriods)

// router adds what stands before the two roles of a disaggregated service.
func (b *builder) router() error {
	g := group{name: b.Name + "-router", role: "router", replicas: 1, nodes: 1, port: routerPort, args: -1, ready: "/health"}
	a := &args{}
	switch b.Engine {
	case argv.SGLang:
		a.add("python3", "-m", "sglang_router.launch_router", "--pd-disaggregation")
		for i := range b.Split.PrefillWorkers {
			a.ref("--prefill", b.address(prefill, i))
			a.add(sglangBootstrapPort)
		}
		for i := range b.Split.DecodeWorkers {
			a.ref("--decode", b.address(decode, i))
		}
		a.add("--host", "0.0.0.0", "--port", strconv.Itoa(routerPort), "--worker-startup-timeout-secs", startSeconds)
	case argv.TRTLLM:
		a.add("trtllm-serve", "disaggregated", "-c")
		g.sub, g.args = "disaggregated", 2
		if err := b.orchestra(&g, a); err != nil {
			return err
		}
		a.add("--server_start_timeout", startSeconds, "--request_timeout", startSeconds)
	case argv.VLLM:
		g.prepare = vllmRouterInstall
		a.add("vllm-router", "--vllm-pd-disaggregation", "--policy", "round_robin")
		for _, role := range b.roles() {
			for i := range role.replicas {
				a.ref("--"+role.name, b.address(role.name, i))
			}
		}
		a.add("--host", "0.0.0.0", "--port", strconv.Itoa(routerPort), "--worker-startup-timeout-secs", startSeconds)
		b.note("vllm %s has no router of its own: the vLLM project's is the package vllm-router %s, which %s-router runs; its flags stand in no list here and were not checked", b.list.Version, vllmRouterVersion, b.Name)
		if b.Target == Shell || b.Target == Slurm || b.Target == Ray {
			g.write = vllmRouterCheck + "\n"
			b.note("the router's script needs vllm-router where it runs: %s", vllmRouterPackage)
		}
	}
	if g.image = b.RouterImage; g.image != "" {
		g.prepare = "" // it holds the program
	}
	g.leader = a.words
	b.groups = append(b.groups, g)
	return nil
}

// address is the URL of a role's instance: by the name that the cluster gives it,
// or by a variable such as PREFILL_0 that holds a host.
func (b *builder) address(role string, i int) Word {
	port := ":" + strconv.Itoa(b.Serve.Port)
	if b.Target == Kube || b.Target == Compose {
		return Word{Text: "http://" + b.host(role, i) + port}
	}
	return Word{Text: "http://", Ref: Named, Var: hostVariable(role, i), After: port}
}

// hostVariable holds the host of an instance where no target names it.
func hostVariable(role string, i int) string { return strings.ToUpper(role) + "_" + strconv.Itoa(i) }

// host is the name of an instance: the leader pods of a LeaderWorkerSet are
// NAME-i under the headless service NAME.
func (b *builder) host(role string, i int) string {
	set := b.Name + "-" + role
	if b.Target == Kube {
		return fmt.Sprintf("%s-%d.%s", set, i, set)
	}
	return fmt.Sprintf("%s-%d", set, i)
}

// routerConfig is the variable of a script that holds the file of orchestra.
const routerConfig = "ROUTER_CONFIG"

// orchestra writes the configuration of TensorRT-LLM's disaggregated server: a file where
// the target names the workers, or else lines that write it from variables.
func (b *builder) orchestra(g *group, a *args) error {
	type servers struct {
		Instances int      `json:"num_instances"`
		URLs      []string `json:"urls"`
	}
	named := b.Target == Kube || b.Target == Compose
	urls := func(role string, n int) (s servers) {
		for i := range n {
			host := b.host(role, i)
			if !named {
				g.hosts = append(g.hosts, hostVariable(role, i))
				host = "${" + hostVariable(role, i) + "}"
			}
			s.URLs = append(s.URLs, fmt.Sprintf("%s:%d", host, b.Serve.Port))
		}
		s.Instances = n
		return s
	}
	out, err := yaml.Marshal(struct {
		Hostname   string  `json:"hostname"`
		Port       int     `json:"port"`
		Context    servers `json:"context_servers"`
		Generation servers `json:"generation_servers"`
	}{"0.0.0.0", routerPort, urls(prefill, b.Split.PrefillWorkers), urls(decode, b.Split.DecodeWorkers)})
	if !named {
		a.words = append(a.words, Word{Ref: Named, Var: routerConfig})
		g.write = fmt.Sprintf("%s=$(mktemp)\ncat >\"$%s\" <<RIDGELINE_CONFIG\n%sRIDGELINE_CONFIG\n", routerConfig, routerConfig, out)
		return err
	}
	file := File{Name: b.Name + "-router.yaml", Content: comment("#", b.header(b.list)) + string(out)}
	g.files = []File{file}
	a.words = append(a.words, Word{Ref: ConfigDir, After: "/" + file.Name})
	return err
}
