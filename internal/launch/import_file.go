package launch

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// ImportFile imports the commands of a file: a shell or Slurm script, a manifest of
// Kubernetes or Compose, or an engine's configuration file alone. Several commands
// of the engine become Roles; the degrees of the file are those of its decode
// role, or of its first command. config is as for ImportWords.
func ImportFile(engine, name string, text []byte, config map[string]any) (*Imported, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, fmt.Errorf("%s is empty: give a script, a manifest or a configuration of %s", name, engine)
	}
	commands, own, err := commandsOf(name, text)
	if err != nil {
		return nil, err
	}
	if own != nil {
		if !speaks(engine, own) {
			return nil, fmt.Errorf("%s holds no setting of %s and no container: give a script, a manifest or a configuration", name, engine)
		}
		return ImportWords(engine, Command{}, own)
	}
	var roles []*Imported
	var router Command // which holds no degrees, and is read only where nothing else is
	for _, c := range commands {
		prog, ok := findProgram(engine, c.Words)
		if !ok || len(prog.before) == 0 {
			continue
		}
		if prog.routes() {
			router = c
			continue
		}
		im, err := ImportWords(engine, c, config)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if !slices.ContainsFunc(roles, func(o *Imported) bool { return o.same(im) }) {
			roles = append(roles, im)
		}
	}
	switch {
	case len(roles) == 0 && router.Words != nil:
		_, err := ImportWords(engine, router, config)
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(roles) == 0:
		return nil, fmt.Errorf("%s runs no %s: its command is like `%s`", name, engine, example[engine])
	}
	first := roles[0]
	for _, r := range roles {
		if r.Settings != nil && r.Settings.Role == decode {
			first = r
			break
		}
	}
	whole := *first
	if len(roles) > 1 {
		whole.Roles = roles
	}
	whole.Deployment = deployment(roles)
	return &whole, nil
}

// deployment is what a file serves as a whole: one plan with its instances, or a
// prefill and a decode role; "" where it is neither.
func deployment(roles []*Imported) string {
	by := map[string]*Imported{}
	for _, r := range roles {
		if r.Settings == nil || r.PlanText == "" || by[r.Settings.Role] != nil {
			return ""
		}
		by[r.Settings.Role] = r
	}
	text := func(r *Imported, key string) string {
		p := maps.Clone(r.Plan)
		n, _ := p["replicas"].(int)
		n = max(n, 1) * max(r.Instances, 1)
		delete(p, "replicas")
		return planText(p) + fmt.Sprintf(",%s=%d", key, n) // not to be searched
	}
	switch {
	case len(roles) == 1 && by[""] != nil:
		return text(by[""], "replicas")
	case len(roles) == 2 && by[prefill] != nil && by[decode] != nil:
		return "prefill:" + text(by[prefill], "workers") + ";decode:" + text(by[decode], "workers")
	}
	return ""
}

// same tells whether two commands are the same instance, as leader and worker of a
// group are.
func (im *Imported) same(o *Imported) bool {
	role := func(i *Imported) string {
		if i.Settings == nil {
			return ""
		}
		return i.Settings.Role
	}
	return im.Degrees == o.Degrees && im.Model == o.Model && role(im) == role(o)
}

// manifestLike is how manifests and JSON begin that YAML cannot be read from; scripts do
// not look like them.
var manifestLike = regexp.MustCompile(`(?m)\A\s*({|\[\s*[\[{"])|^"?(apiVersion|kind|services)"?:`)

// commandsOf reads a file's commands. own is set where the file is a map of
// settings instead.
func commandsOf(name string, text []byte) (commands []Command, own map[string]any, err error) {
	docs, yamlErr := documents(name, text)
	switch {
	case yamlErr == nil && len(docs) > 0 && slices.ContainsFunc(docs, isManifest):
		files := configMaps(docs)
		for _, d := range docs {
			for _, c := range Manifest(d) {
				if c.Files == nil {
					c.Files = files
				}
				commands = append(commands, c)
			}
		}
		return commands, nil, nil
	case yamlErr == nil && len(docs) == 1 && !bytes.HasPrefix(text, []byte("#!")):
		return nil, docs[0], nil
	case yamlErr == nil && len(docs) > 1:
		return nil, nil, fmt.Errorf("%s holds %d documents and none is a manifest: give one configuration", name, len(docs))
	case yamlErr != nil && manifestLike.Match(text):
		return nil, nil, yamlErr
	}
	commands, err = Script(name, unitScript(string(text)))
	return commands, nil, err
}

// The lines of a systemd unit that hold a command and its environment.
var (
	execStart = regexp.MustCompile(`(?m)^ExecStart=[-@:+!]*`)
	unitEnv   = regexp.MustCompile(`(?m)^Environment=`)
)

// unitScript writes a systemd unit as a shell script; other texts stay as they are.
func unitScript(text string) string {
	if !execStart.MatchString(text) {
		return text
	}
	return execStart.ReplaceAllString(unitEnv.ReplaceAllString(text, "export "), "")
}

// speaks tells whether a map of settings has any that the engine knows.
func speaks(engine string, config map[string]any) bool {
	r, err := ImportWords(engine, Command{}, config)
	if err != nil {
		return true // the error says more
	}
	known := len(r.line.Args) > len(r.UnknownFlags)
	for k := range maps.Keys(config) {
		known = known || r.line.List.Flag("--"+k) != nil || trtllmKeys[k]
	}
	return known
}

// trtllmKeys are settings of TensorRT-LLM's YAML that are no flags
// (tests/unittest/api_stability/references/llm.yaml).
var trtllmKeys = map[string]bool{"attention_dp_config": true, "moe_config": true, "kv_cache_config": true, "cuda_graph_config": true,
	"speculative_config": true, "stream_interval": true, "cache_transceiver_config": true, "scheduler_config": true, "torch_compile_config": true}
