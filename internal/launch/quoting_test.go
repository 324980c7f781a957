package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// nasty are model paths that a careless quoting lets out.
var nasty = []string{"/m/a b", `/m/"x"`, "/m/'x'", "/m/$(touch /tmp/x)", "/m/`id`", "/m/a\nRIDGELINE_COMMAND\nid", "/m/a\\", "/m/$HOME", "/m/*", "/m/~", "/m/é", "/m/a;b", "/m/#x", "/m/$$(X)", "/m/!x",
	"/m/my\u00a0model", "/m/a\u0085b", "/m/\u2028", "/m/\ufeff\u200d", "/m/é\n'\\x"}

// TestQuoting: whatever a path holds, it reaches the engine as one word.
func TestQuoting(t *testing.T) {
	for _, path := range nasty {
		checkQuoting(t, path)
	}
}

func checkQuoting(t *testing.T, path string) {
	t.Helper()
	for _, target := range []Target{Shell, Slurm, Kube, Compose, Ray} {
		for _, text := range []string{"tp=8", "dp=32,ep=32"} { // the second needs a shell in its pods
			r := ask(t, argv.VLLM, target, "deepseek-r1", text)
			r.ModelPath = path
			if target == Compose && text != "tp=8" {
				continue
			}
			b, err := Build(r)
			if err != nil {
				t.Fatalf("%q: %v", path, err)
			}
			main := b.Files[0].Content
			if target == Ray { // the script is as the shell's; here its manifest
				main = b.Files[1].Content
			}
			var found []Command
			if target == Kube || target == Compose || target == Ray {
				docs, err := documents("f", []byte(main))
				if err != nil {
					t.Fatalf("%q for %s: %v", path, target, err)
				}
				for _, d := range docs {
					found = append(found, Manifest(d)...)
				}
			} else if found, err = Script("f", main); err != nil {
				t.Fatalf("%q for %s: %v", path, target, err)
			}
			n := 0
			for _, c := range found {
				for i, w := range c.Words {
					if w == "serve" && i+1 < len(c.Words) {
						got := c.Words[i+1]
						if n++; got != path {
							t.Errorf("%q for %s arrives as %q", path, target, got)
						}
					}
				}
			}
			if n == 0 {
				t.Errorf("%q for %s: no command found", path, target)
			}
		}
	}
}

// TestQuotingOfScriptsInPods: where a container's command is a script (MPI, programs
// outside of PATH) and where a value is in the environment, nothing breaks out either.
func TestQuotingOfScriptsInPods(t *testing.T) {
	for _, path := range nasty {
		for _, c := range []struct {
			engine string
			target Target
			text   string
			before string // the path
		}{
			{argv.TRTLLM, Kube, "dp=16,ep=16", "trtllm-serve"}, {argv.TRTLLM, Shell, "dp=16,ep=16", "trtllm-serve"}, {argv.TRTLLM, Slurm, "dp=16,ep=16", "trtllm-serve"},
			{argv.LlamaCPP, Kube, "tp=1", "--model"}, {argv.LlamaCPP, Compose, "tp=1", "--model"},
		} {
			r := ask(t, c.engine, c.target, "deepseek-r1", c.text)
			r.ModelPath, r.Env = path, []string{"SOME_NAME=" + path}
			b, err := Build(r)
			if err != nil {
				t.Fatal(err)
			}
			commands, _, err := commandsOf("f", []byte(b.Files[0].Content))
			if err != nil {
				t.Fatalf("%q for %s: %v", path, c.target, err)
			}
			n := 0
			for _, command := range commands {
				for i, w := range command.Words {
					if w != c.before || i+1 == len(command.Words) {
						continue
					}
					if n++; command.Words[i+1] != path {
						t.Errorf("%s for %s: %q arrives as %q", c.engine, c.target, path, command.Words[i+1])
					}
					// Manifests keep the environment as it is written, dollars doubled.
					want := path
					if c.target == Kube || c.target == Compose {
						want = strings.ReplaceAll(path, "$", "$$")
					}
					if got := command.Env["SOME_NAME"]; got != want {
						t.Errorf("%s for %s: environment %q arrives as %q", c.engine, c.target, path, got)
					}
				}
			}
			if n == 0 {
				t.Errorf("%s for %s: no command found", c.engine, c.target)
			}
		}
	}
}

// TestScriptsParse: bash reads every script that is written, where there is bash.
func TestScriptsParse(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	file := filepath.Join(t.TempDir(), "s.sh")
	for _, path := range nasty {
		for _, c := range []struct {
			engine string
			target Target
			text   string
		}{
			{argv.VLLM, Shell, "tp=8,pp=2"}, {argv.VLLM, Slurm, "dp=16,ep=16"}, {argv.VLLM, Ray, "tp=16"}, {argv.LlamaCPP, Shell, "pp=16"},
			{argv.SGLang, Slurm, "prefill:dp=8,ep=8,workers=2;decode:dp=16,ep=16"}, {argv.TRTLLM, Slurm, "prefill:tp=8;decode:dp=16,ep=16"}, {argv.TRTLLM, Shell, "prefill:tp=8;decode:dp=16,ep=16"},
		} {
			r := ask(t, c.engine, c.target, "deepseek-r1", c.text)
			r.ModelPath = path
			b, err := Build(r)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range b.Files {
				if !f.Run {
					continue
				}
				if err := os.WriteFile(file, []byte(f.Content), 0o600); err != nil {
					t.Fatal(err)
				}
				if out, err := exec.Command(bash, "-n", file).CombinedOutput(); err != nil {
					t.Errorf("%s for %s, %q: %s", c.engine, c.target, path, out)
				}
			}
		}
	}
}

// TestBashDelivers: run by bash with a stand-in for the engine, the scripts hand
// the path over as one argument, and node 1 gets its own rank.
func TestBashDelivers(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "vllm"), []byte("#!"+bash+"\nprintf '%s\\0' \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range nasty {
		r := ask(t, argv.VLLM, Shell, "deepseek-r1", "dp=32,ep=32")
		r.ModelPath = path
		b, err := Build(r)
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command(bash, "-c", b.Files[0].Content)
		c.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "NODE_RANK=3", "LEADER_ADDRESS=10.0.0.1"}
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%q: %v", path, err)
		}
		got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if len(got) < 3 || got[0] != "serve" || got[1] != path || got[len(got)-1] != "24" {
			t.Errorf("%q arrives as %q", path, got)
		}
	}
}

// FuzzQuoting: any path that can be an argument arrives whole.
func FuzzQuoting(f *testing.F) {
	for _, p := range nasty {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, path string) {
		r := ask(t, argv.VLLM, Shell, "deepseek-r1", "tp=8")
		if r.ModelPath = path; len(path) > 1000 {
			return
		}
		b, err := Build(r)
		if err != nil {
			return
		}
		commands, err := Script("f", b.Files[0].Content)
		if err != nil {
			t.Fatalf("%q: %v", path, err)
		}
		last := commands[len(commands)-1].Words
		if len(last) < 4 || last[3] != path {
			t.Errorf("%q arrives as %q", path, last)
		}
	})
}
