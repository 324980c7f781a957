package launch

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// composeFile is the part of the Compose specification that launch writes.
type composeFile struct {
	Name     string                    `json:"name"`
	Services map[string]composeService `json:"services"`
	Volumes  map[string]struct{}       `json:"volumes,omitempty"`
}

type composeService struct {
	Image       string            `json:"image"`
	Entrypoint  []string          `json:"entrypoint"`
	Command     []string          `json:"command,omitempty"`
	Environment map[string]string `json:"environment,omitempty"`
	Ports       []string          `json:"ports,omitempty"`
	Volumes     []string          `json:"volumes,omitempty"`
	IPC         string            `json:"ipc,omitempty"`
	Limits      map[string]int64  `json:"ulimits,omitempty"`
	Deploy      *composeDeploy    `json:"deploy,omitempty"`
	Health      *composeHealth    `json:"healthcheck,omitempty"`
}

type composeDeploy struct {
	Resources struct {
		Reservations struct {
			Devices []composeDevice `json:"devices"`
		} `json:"reservations"`
	} `json:"resources"`
}

type composeDevice struct {
	Driver       string   `json:"driver"`
	IDs          []string `json:"device_ids"`
	Capabilities []string `json:"capabilities"`
}

type composeHealth struct {
	Test        []string `json:"test"`
	Interval    string   `json:"interval"`
	StartPeriod string   `json:"start_period"`
}

// composeFiles is one Compose file for one machine: every instance a service with
// GPUs of its own.
func (b *builder) composeFiles() ([]File, error) {
	if err := b.needsImage(); err != nil {
		return nil, err
	}
	out := composeFile{Name: b.Name, Services: map[string]composeService{}}
	if b.ModelVolume != "" {
		out.Volumes = map[string]struct{}{b.ModelVolume: {}}
	}
	gpu := 0
	for i := range b.groups {
		g := &b.groups[i]
		if g.nodes > 1 {
			return nil, fmt.Errorf("%s spans %d nodes and compose runs one machine: use --target k8s, slurm or shell", g.name, g.nodes)
		}
		for n := range g.replicas {
			name := g.name
			if g.replicas > 1 || b.Split != nil && g.role != "router" {
				name = fmt.Sprintf("%s-%d", g.name, n)
			}
			s := b.composed(g, name, gpu, n)
			out.Services[name] = s
			gpu += g.gpus
		}
	}
	if gpu > b.NodeGPUs {
		return nil, fmt.Errorf("the instances take %d GPUs and the machine has %d: use fewer replicas or another target", gpu, b.NodeGPUs)
	}
	y, err := yamlText(out)
	if err != nil {
		return nil, err
	}
	files := []File{{Name: "compose.yaml", Content: comment("#", b.header(b.list)) + y}}
	return append(files, b.configFiles()...), nil
}

// composedModel brings the model to an instance: from a volume, or from its folder on
// this machine.
func (b *builder) composedModel(g *group, s *composeService) {
	local := path.IsAbs(b.ModelPath)
	if b.ModelVolume != "" {
		s.Volumes = append(s.Volumes, b.ModelVolume+":"+modelDir)
	}
	switch dir := path.Dir(b.ModelPath); {
	case g.role == "router":
	case !local:
		if !g.sets("HF_TOKEN") {
			s.Environment["HF_TOKEN"] = "${HF_TOKEN:-}" // of whoever starts it
		}
		if b.ModelVolume != "" && !g.sets("HF_HOME") {
			s.Environment["HF_HOME"] = modelDir
		}
	case b.ModelVolume != "":
	case strings.Contains(b.ModelPath, ":"): // which separates the parts of a mount
		b.note("the model's path has a colon, so no mount could be written: bring it into the containers of %s", g.name)
	default:
		if dir == "/" {
			dir = b.ModelPath
		}
		s.Volumes = append(s.Volumes, strings.ReplaceAll(dir+":"+dir+":ro", "$", "$$"))
	}
}

// composed is one instance on the GPUs from first on; others reach it by name.
func (b *builder) composed(g *group, name string, first, instance int) composeService {
	s := composeService{Image: b.imageOf(g), IPC: "host", Environment: map[string]string{}}
	known := func(w Word) Word { // as one text
		text := w.Text
		switch w.Ref {
		case ConfigDir:
			text += configDir
		case OwnAddress:
			text += name
		}
		return Word{Text: text + w.After}
	}
	escape := func(text string) string { return strings.ReplaceAll(text, "$", "$$") } // Compose replaces $NAME
	var words []Word
	for _, w := range g.leader {
		words = append(words, known(w))
	}
	if g.prepare != "" {
		words = lit("bash", "-c", podScript(g, words, nil))
	}
	for _, w := range words {
		s.Command = append(s.Command, escape(w.Text))
	}
	s.Entrypoint, s.Command = s.Command[:1], s.Command[1:]
	for _, e := range g.env {
		s.Environment[e.name] = escape(known(e.value).Text)
	}
	if g.port > 0 && (b.Split == nil || g.role == "router") {
		s.Ports = []string{fmt.Sprintf("%d:%d", g.port+instance, g.port)}
	}
	for _, f := range g.files {
		s.Volumes = append(s.Volumes, "./"+f.Name+":"+configDir+"/"+f.Name+":ro")
	}
	b.composedModel(g, &s)
	if g.gpus > 0 {
		d := &composeDeploy{}
		var ids []string
		for i := range g.gpus {
			ids = append(ids, strconv.Itoa(first+i))
		}
		d.Resources.Reservations.Devices = []composeDevice{{"nvidia", ids, []string{"gpu"}}}
		s.Deploy = d
		// Pinned memory of transfers and deep stacks, as NVIDIA's images ask for.
		s.Limits = map[string]int64{"memlock": -1, "stack": 64 << 20}
	}
	if g.ready != "" && g.port > 0 {
		url := fmt.Sprintf("http://127.0.0.1:%d%s", g.port, g.ready)
		test := []string{"CMD", "python3", "-c", fmt.Sprintf("import urllib.request; urllib.request.urlopen('%s')", url)}
		if b.Engine == argv.LlamaCPP { // whose images have no Python
			test = []string{"CMD", "curl", "--fail", "--silent", url}
		}
		s.Health = &composeHealth{test, "10s", "1h"}
	}
	return s
}
