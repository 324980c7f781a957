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
	bin := standIns(t, bash, "llama-server", "rpc-server")
	for node, want := range map[string]string{"0": "--rpc 127.0.0.1:" + port + ",localhost:" + port, "2": "rpc-server -H 0.0.0.0 -p " + port} {
		c := onSlurm(bash, bin, node, strings.ReplaceAll(b.Files[0].Content, strconv.Itoa(llamaRPCPort), port))
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("node %s: %v, want %s:\n%s", node, err, want, out)
		}
	}
}

// standIns is a folder with Slurm's commands and programs that print how they were called.
// The nodes are node0, 127.0.0.1 and localhost.
func standIns(t *testing.T, bash string, programs ...string) string {
	t.Helper()
	bin := t.TempDir()
	bodies := map[string]string{"scontrol": "printf 'node0\\n127.0.0.1\\nlocalhost\\n'; seq 1 ${MANY:-0}", "srun": `exec bash -c "${@: -1}"`}
	for _, p := range programs {
		bodies[p] = "echo " + p + ` "$@"`
	}
	for name, body := range bodies {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!"+bash+"\n"+body+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

// onSlurm runs an sbatch script as one task of a job.
func onSlurm(bash, bin, node, script string) *exec.Cmd {
	c := exec.Command(bash, "-c", script)
	c.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "SLURM_NODEID=" + node, "SLURM_JOB_NODELIST=x", "SLURM_SUBMIT_DIR=/etc", "HOME=" + bin, "PREFILL_0=p", "DECODE_0=d"}
	return c
}

// TestSlurmRuns: every kind of sbatch script runs to its command on each node, with the
// first node's name and this node's rank.
func TestSlurmRuns(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	bin := standIns(t, bash, "vllm", "python3", "trtllm-llmapi-launch", "trtllm-serve", "torchrun", "vllm-router")
	split := "prefill:tp=8;decode:tp=8"
	train := func(engine string) *Request {
		r := askTraining(t, engine, Slurm, "llama-3.1-8b", "tp=2,dp=8,zero=3,sp=1", 64)
		r.Image = ""
		return r
	}
	for _, c := range []struct {
		r    *Request
		file int
		want [2]string // of node 0 and 1
	}{
		{ask(t, argv.VLLM, Slurm, "deepseek-r1", "dp=16,ep=16"), 0, [2]string{"--data-parallel-address node0 --data-parallel-rpc-port 13345", "--headless --data-parallel-start-rank 8"}},
		{ask(t, argv.VLLM, Slurm, "deepseek-r1", "tp=16"), 0, [2]string{"--node-rank 0 --master-addr node0", "--node-rank 1 --master-addr node0 --master-port 29501 --headless"}},
		{ask(t, argv.SGLang, Slurm, "deepseek-r1", "tp=16"), 0, [2]string{"--node-rank 0 --dist-init-addr node0:5000", "--node-rank 1 --dist-init-addr node0:5000"}},
		{ask(t, argv.TRTLLM, Slurm, "deepseek-r1", "tp=16"), 0, [2]string{"trtllm-llmapi-launch trtllm-serve deepseek-ai/DeepSeek-R1", "trtllm-llmapi-launch trtllm-serve"}},
		{ask(t, argv.VLLM, Slurm, "deepseek-r1", split), 2, [2]string{"--prefill http://p:8000 --decode http://d:8000", "vllm-router"}},
		{ask(t, argv.TRTLLM, Slurm, "deepseek-r1", split), 2, [2]string{"trtllm-serve disaggregated -c /", "disaggregated"}},
		{train(argv.MegatronLM), 0, [2]string{"--node_rank 0 --master_addr node0", "--node_rank 1 --master_addr node0"}},
		{train(argv.TorchTitan), 0, [2]string{"--node_rank 0 --master_addr node0", "--node_rank 1 --master_addr node0"}},
	} {
		b, err := Build(c.r)
		if err != nil {
			t.Fatal(err)
		}
		for node, want := range c.want {
			run := onSlurm(bash, bin, strconv.Itoa(node), b.Files[c.file].Content)
			run.Env = append(run.Env, "MANY=30000") // more than a pipe holds
			out, err := run.CombinedOutput()
			if err != nil || !strings.Contains(string(out), want) {
				t.Errorf("%s %s on node %d: %v, want %s:\n%s", c.r.Engine, b.Files[c.file].Name, node, err, want, out)
			}
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
