package launch

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// documents decodes every document of a YAML or JSON file.
func documents(name string, text []byte) (docs []map[string]any, err error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	for len(docs) < 1000 {
		var doc any
		switch err := d.Decode(&doc); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			hint := ""
			if bytes.Contains(text, []byte("\n\t")) {
				hint = " (tabs do not indent)"
			}
			return nil, fmt.Errorf("%s: %s: mend the YAML%s", name, strings.Join(strings.Fields(err.Error()), " "), hint)
		}
		if m, ok := doc.(map[string]any); ok {
			docs = append(docs, m)
		}
	}
	return nil, fmt.Errorf("%s has more than 1000 documents: split it", name)
}

// isManifest tells whether a document describes containers: a Kubernetes object
// or a Compose file.
func isManifest(doc map[string]any) bool {
	_, kind := doc["kind"].(string)
	_, services := doc["services"].(map[string]any)
	return kind || services
}

// Manifest finds the commands of the containers in a document, wherever they
// stand (Deployment, Job, LeaderWorkerSet, RayCluster, DisaggregatedSet, Compose).
func Manifest(doc map[string]any) []Command {
	var out []Command
	walkContainers(doc, 0, workload{}, func(c map[string]any, w workload) {
		words := append(wordsOf(c["command"]), wordsOf(c["args"])...)
		if entry := wordsOf(c["entrypoint"]); len(entry) > 0 {
			words = append(entry, wordsOf(c["command"])...)
		}
		env := w.env()
		maps.Copy(env, envOf(c["env"]))
		maps.Copy(env, envOf(c["environment"]))
		if len(words) == 0 {
			return
		}
		if image, ok := c["image"].(string); ok && c["entrypoint"] == nil && (c["command"] == nil || c["args"] == nil) {
			words = append([]string{image}, words...) // whose entrypoint may be the engine
		}
		for i := range words {
			words[i] = expandKube(words[i], env)
		}
		if inner := scriptOf(words); inner != "" {
			s := &scriptReader{vars: newShellVars(env)}
			if s.read("command", inner, 0) == nil {
				for _, c := range s.commands {
					c.Instances, c.Role = w.instances, w.role
					out = append(out, c)
				}
				return
			}
		}
		out = append(out, Command{Words: words, Env: env, Instances: w.instances, Role: w.role})
	})
	return out
}

// workload is what stands around a container: replicas and the pods of each, 0 where
// they are not stated.
type workload struct {
	instances, group int
	role             string // as the label says that launch writes
}

// env is what LeaderWorkerSet sets in the first pod of a group, as far as a manifest
// tells.
func (w workload) env() map[string]string {
	if w.group == 0 {
		return map[string]string{}
	}
	return map[string]string{"LWS_GROUP_SIZE": strconv.Itoa(w.group), "LWS_WORKER_INDEX": "0"}
}

// walkContainers calls do for every map that looks like a container, in the order
// of sorted keys, with the workload around it.
func walkContainers(v any, depth int, w workload, do func(map[string]any, workload)) {
	if depth > 64 {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if v["command"] != nil || v["args"] != nil && v["image"] != nil {
			do(v, w)
			return
		}
		if n, ok := v["replicas"].(int); ok && n > 0 && n <= maxDegree {
			w.instances = n
		}
		if n, ok := v["size"].(int); ok && v["workerTemplate"] != nil && n > 0 && n <= maxDegree {
			w.group = n
		}
		meta, _ := v["metadata"].(map[string]any)
		labels, _ := meta["labels"].(map[string]any)
		if r := labels[componentLabel]; r == prefill || r == decode {
			w.role = r.(string)
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			walkContainers(v[k], depth+1, w, do)
		}
	case []any:
		for _, e := range v {
			walkContainers(e, depth+1, w, do)
		}
	}
}

// wordsOf reads a list of words, or a text that a shell would split.
func wordsOf(v any) (words []string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			words = append(words, fmt.Sprint(e))
		}
	case string:
		if cs, err := Script("command", v); err == nil && len(cs) > 0 {
			return cs[0].Words
		}
	}
	return words
}

// envOf reads an env list of name and value, a map, or a list of NAME=value.
func envOf(v any) map[string]string {
	env := map[string]string{}
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			env[k] = fmt.Sprint(x)
		}
	case []any:
		for _, e := range v {
			switch e := e.(type) {
			case map[string]any:
				if value, ok := e["value"]; ok {
					env[fmt.Sprint(e["name"])] = fmt.Sprint(value)
				}
			case string:
				if k, value, ok := strings.Cut(e, "="); ok {
					env[k] = value
				}
			}
		}
	}
	return env
}

// expandKube replaces $(NAME) by what env knows and $$ by a dollar, as Kubernetes
// does before a container starts. Compose reads $$ the same way.
func expandKube(word string, env map[string]string) string {
	var b strings.Builder
	for i := 0; i < len(word); i++ {
		if word[i] != '$' || i+1 == len(word) {
			b.WriteByte(word[i])
			continue
		}
		if word[i+1] == '$' {
			b.WriteByte('$')
			i++
			continue
		}
		name, _, closed := strings.Cut(word[i+1:], ")")
		value, known := env[strings.TrimPrefix(name, "(")]
		if word[i+1] == '(' && closed && known && b.Len()+len(value) < maxWord {
			b.WriteString(value)
			i += len(name) + 1
			continue
		}
		b.WriteByte('$')
	}
	return b.String()
}
