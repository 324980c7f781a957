package launch

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// render writes the groups for the target, and a page that says how to use them.
func (b *builder) render() ([]File, error) {
	var files []File
	var err error
	switch b.Target {
	case Shell:
		files = b.shellFiles()
	case Slurm:
		files = b.slurmFiles()
	case Kube:
		files, err = b.kubeFiles()
	case Ray:
		files, err = b.rayFiles()
	case Compose:
		files, err = b.composeFiles()
	default:
		return nil, fmt.Errorf("target %q is unknown: use shell, slurm, k8s, ray or compose", b.Target)
	}
	if err != nil {
		return nil, err
	}
	return append(files, b.readme()), nil
}

// configFiles are the engine's configuration files of all groups.
func (b *builder) configFiles() (files []File) {
	for _, g := range b.groups {
		files = append(files, g.files...)
	}
	return files
}

// images are the engines' own images of the listed versions; the registries are
// those that the public recipes name.
var images = map[string]string{argv.VLLM: "vllm/vllm-openai:v0.26.0", argv.SGLang: "lmsysorg/sglang:v0.5.18",
	argv.TRTLLM: "nvcr.io/nvidia/tensorrt-llm/release:1.3.0rc24"}

// needsImage takes the engine's own image where none was given, and refuses a
// container target of an engine without one.
func (b *builder) needsImage() error {
	if b.Image == "" {
		if b.Image = images[b.Engine]; b.Image != "" {
			b.note("the image %s is the engine's own of this version: --image names another", b.Image)
		}
	}
	if b.Image == "" {
		return fmt.Errorf("--target %s runs containers: give --image, one that holds %s %s", b.Target, b.Engine, b.list.Version)
	}
	if err := b.modelReaches(); err != nil {
		return err
	}
	for i := range b.groups {
		if g := &b.groups[i]; g.prepare != "" && g.role == "router" {
			b.note("%s installs its program where the image %s lacks it, which needs the way to a package index: --router-image names an image that holds it", g.name, b.Image)
		}
	}
	return nil
}

// modelReaches tells how a container comes to the model that its command names, and
// refuses a path that the named volume does not hold.
func (b *builder) modelReaches() error {
	switch p := b.ModelPath; {
	case b.Training != nil:
	case !path.IsAbs(p):
		if b.Target != Compose {
			b.note("models of the hub that ask for a token take it from key token of the secret %s, where there is one", hubSecret)
		}
		if b.ModelVolume == "" && b.Target != Slurm {
			b.note("no volume was named, so containers download the model again whenever they start: --model-volume names one that keeps it")
		}
	case b.ModelVolume != "" && !strings.HasPrefix(path.Clean(p)+"/", modelDir+"/"):
		return fmt.Errorf("model path %q is not in the volume %s, which is mounted at %s: give its path there with --model-path", p, b.ModelVolume, modelDir)
	case b.ModelVolume == "" && b.Target != Compose:
		b.note("no volume was named, so the image must hold the model's path: --model-volume names a claim that is mounted at %s", modelDir)
	}
	return nil
}

// imageOf is the image of a group's containers.
func (b *builder) imageOf(g *group) string { return cmp.Or(g.image, b.Image) }

// podScript is a container's command as a script of bash, after what installs its
// program.
func podScript(g *group, words []Word, names map[Ref]string) string {
	s := &lines{}
	if g.prepare != "" {
		s.line("%s", g.prepare)
	}
	s.line("exec %s", shellLines(words, names, "  "))
	return strings.TrimSuffix(s.text(), "\n")
}

// rayFiles are scripts that build a Ray cluster and start vLLM on it, and the same
// as a manifest of KubeRay.
func (b *builder) rayFiles() ([]File, error) {
	if b.Engine != argv.VLLM {
		return nil, fmt.Errorf("%s does not run on Ray: use --target shell, slurm or k8s", b.Engine)
	}
	var files []File
	for i := range b.groups {
		g := &b.groups[i]
		s := b.begin(g)
		if g.role == "router" { // no part of a Ray cluster
			s.exec("", g.leader)
			files = append(files, File{Name: g.name + ".sh", Content: s.text(), Run: true})
			continue
		}
		if g.nodes > 1 {
			s.line("if [ \"$NODE_RANK\" -ne 0 ]; then")
			s.line("  exec ray start --address=\"${LEADER_ADDRESS}:%d\" --block", rayPort)
			s.line("fi")
		}
		s.line("ray start --head --port=%d", rayPort)
		if g.nodes > 1 {
			s.line("# wait for the other nodes, which run this script with NODE_RANK 1 to %d", g.nodes-1)
			b.rayWait(s, g)
		}
		s.exec("", g.leader)
		files = append(files, File{Name: g.name + ".sh", Content: s.text(), Run: true})
	}
	cluster, err := b.rayManifest()
	return append(append(files, cluster), b.configFiles()...), err
}

// rayPort is Ray's default.
const rayPort = 6379
