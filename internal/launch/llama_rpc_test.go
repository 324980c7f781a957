package launch

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// TestWorkersOfLlama: under Slurm node 0 waits for the workers of the other nodes, which
// scontrol names, and serves over them; bash runs the script with stand-ins.
func TestWorkersOfLlama(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	worker, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close()
	port := strconv.Itoa(worker.Addr().(*net.TCPAddr).Port)
	b, err := Build(ask(t, argv.LlamaCPP, Slurm, "deepseek-r1", "pp=24"))
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for name, body := range map[string]string{"scontrol": "printf 'node0\\n127.0.0.1\\nlocalhost\\n'", "srun": `exec bash -c "${@: -1}"`,
		"llama-server": `echo llama-server "$@"`, "rpc-server": `echo rpc-server "$@"`} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!"+bash+"\n"+body+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for node, want := range map[string]string{"0": "--rpc 127.0.0.1:" + port + ",localhost:" + port, "2": "rpc-server -H 0.0.0.0 -p " + port} {
		c := exec.Command(bash, "-c", strings.ReplaceAll(b.Files[0].Content, strconv.Itoa(llamaRPCPort), port))
		c.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "SLURM_NODEID=" + node, "SLURM_JOB_NODELIST=x", "SLURM_SUBMIT_DIR=/", "HOME=" + bin}
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("node %s: %v, want %s:\n%s", node, err, want, out)
		}
	}
}

// TestWorkersOfLlamaInPods: the leader derives their names, workers run rpc-server.
func TestWorkersOfLlamaInPods(t *testing.T) {
	b, err := Build(ask(t, argv.LlamaCPP, Kube, "deepseek-r1", "pp=24"))
	if err != nil {
		t.Fatal(err)
	}
	if im, err := ImportFile(argv.LlamaCPP, "f", []byte(b.Files[0].Content), nil); err != nil || im.PlanText != "tp=1,pp=24,dp=1,ep=1" {
		t.Errorf("read back as %+v: %v", im, err)
	}
	var set leaderWorkerSet
	docs := strings.Split(fileOf(t, b, "deepseek-r1.yaml"), "---\n")
	if err := yaml.UnmarshalStrict([]byte(docs[len(docs)-1]), &set); err != nil {
		t.Fatal(err)
	}
	leader, worker := containerScript(t, &set.Spec.Template.Leader.Spec), containerScript(t, &set.Spec.Template.Worker.Spec)
	if set.Spec.Template.Size != 3 || !strings.Contains(leader, "seq 1 2") || !strings.Contains(leader, "exec llama-server") || strings.Contains(leader, "rpc-server") {
		t.Errorf("%d pods, the first runs %s", set.Spec.Template.Size, leader)
	}
	if !strings.Contains(worker, "exec rpc-server") || strings.Contains(worker, "RPC_WORKERS") {
		t.Errorf("the others run %s", worker)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	// The line that makes the addresses, without what waits for them.
	line, _, _ := strings.Cut(strings.SplitAfterN(leader, "\n", 2)[1], "\n")
	c := exec.Command(bash, "-c", line+"; echo $RPC_WORKERS")
	c.Env = append(os.Environ(), "LWS_LEADER_ADDRESS=r1-0.r1.serving")
	if out, err := c.Output(); err != nil || strings.TrimSpace(string(out)) != "r1-0-1.r1.serving:50052,r1-0-2.r1.serving:50052" {
		t.Errorf("workers %q: %v", out, err)
	}
}
