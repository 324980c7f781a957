package launch

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/ridgeline/ridgeline/internal/argv"
)

// Config decodes an engine's configuration file: one YAML or JSON map.
func Config(name string, text []byte) (map[string]any, error) {
	docs, err := documents(name, text)
	switch {
	case err != nil:
		return nil, err
	case len(docs) > 1:
		return nil, fmt.Errorf("%s holds %d documents: give one map of settings", name, len(docs))
	case len(docs) == 0:
		return nil, fmt.Errorf("%s holds no map of settings: write key: value lines", name)
	}
	return docs[0], nil
}

// configWords writes a configuration file as the flags that it stands for: vLLM's
// and SGLang's --config files hold flags, Megatron-Bridge's and torchtitan's
// settings have dotted names.
func configWords(engine string, config map[string]any) (words []string) {
	flat := map[string]any{}
	if engine == argv.VLLM || engine == argv.SGLang {
		flat = config
	} else {
		flatten(flat, "", config)
	}
	for _, k := range slices.Sorted(maps.Keys(flat)) {
		v := flat[k]
		switch {
		case engine == argv.MegatronBridge:
			words = append(words, k+"="+plain(v))
		case v == true:
			words = append(words, "--"+k)
		case v == false && engine == argv.VLLM:
			words = append(words, "--no-"+k)
		case v == false || v == nil:
		default:
			words = append(words, "--"+k)
			if list, ok := v.([]any); ok {
				for _, item := range list {
					words = append(words, plain(item))
				}
				continue
			}
			words = append(words, plain(v))
		}
	}
	return words
}

// flatten joins the keys of nested maps with dots.
func flatten(into map[string]any, prefix string, m map[string]any) {
	for k, v := range m {
		if inner, ok := v.(map[string]any); ok && len(inner) > 0 {
			flatten(into, prefix+k+".", inner)
			continue
		}
		into[prefix+k] = v
	}
}

// plain is a value as a word: objects and lists as JSON.
func plain(v any) string {
	switch v.(type) {
	case map[string]any, []any:
		if b, err := json.Marshal(v); err == nil {
			return string(b)
		}
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}

// configFile is the engine's configuration file that a command names and the same script
// or manifest writes; nil for none.
func (c *Command) configFile(list *argv.List, args []string) (map[string]any, error) {
	if len(c.Files) == 0 || list.Engine != argv.VLLM && list.Engine != argv.SGLang && list.Engine != argv.TRTLLM {
		return nil, nil
	}
	line, err := list.Parse("", args)
	if err != nil {
		return nil, err
	}
	for _, flag := range []string{"--extra_llm_api_options", "--config"} {
		if name, given := line.Get(flag); given {
			if text, ok := c.Files[path.Base(name)]; ok {
				return Config(path.Base(name), []byte(text))
			}
		}
	}
	return nil, nil
}

// configMaps are the files that a manifest's ConfigMaps hold, by name.
func configMaps(docs []map[string]any) map[string]string {
	files := map[string]string{}
	for _, d := range docs {
		data, _ := d["data"].(map[string]any)
		for name, text := range data {
			if text, ok := text.(string); ok && d["kind"] == "ConfigMap" {
				files[name] = text
			}
		}
	}
	return files
}
