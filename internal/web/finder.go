package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/balance"
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/modelfile"
	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// finder resolves the names of one request: catalogues, and what the request
// itself brings. It opens nothing on the server's disk.
type finder struct {
	models   map[string]*model.Model // brought along, by the word that stands for them
	clusters map[string]*hw.Cluster
}

// Names of what a request brings.
const (
	broughtModel   = "config.json"
	broughtCluster = "cluster of the request"
)

func (f *finder) Model(name string) (*model.Model, error) {
	if m := f.models[name]; m != nil {
		return m, nil
	}
	m, err := catalog.Model(name)
	if err != nil {
		err = &note.About{Field: "model", Err: fmt.Errorf("%w; or send a config.json in its place", err)}
	}
	return m, err
}

func (f *finder) Cluster(name string) (*hw.Cluster, error) {
	if c := f.clusters[name]; c != nil {
		return c, nil
	}
	c, err := catalog.NamedCluster(name)
	if err != nil {
		err = &note.About{Field: "cluster", Err: err}
	}
	return c, err
}

func (*finder) Trace(string) (*workload.Workload, error) {
	return nil, errors.New("traces are files: `ridgeline simulate` reads them")
}

func (*finder) Loads(string) (*balance.Given, error) {
	return nil, errors.New("expert loads are a file: `ridgeline infer` reads it, here skew says how uneven they are")
}

// text is a member's value as the flag takes it; given is false for null, which
// stands for leaving a field out.
func (f *finder) text(flag string, raw json.RawMessage) (text string, given bool, err error) {
	switch raw[0] {
	case 'n':
		return "", false, nil
	case '{':
		text, err = f.object(flag, raw)
		return text, true, err
	case '[':
		if flag == "model" {
			return "", false, errors.New("is a list: give one name, or one config.json as an object")
		}
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return "", false, err
		}
		words := make([]string, len(list))
		for i, item := range list {
			if item[0] == '[' || item[0] == 'n' {
				return "", false, errors.New("a list holds texts, numbers or objects: flatten it")
			}
			if words[i], _, err = f.text(flag, item); err != nil {
				return "", false, err
			}
		}
		return strings.Join(words, ","), true, nil
	case '"':
		err := json.Unmarshal(raw, &text)
		return text, true, err
	}
	return plainNumber(string(raw)), true, nil // or true or false
}

// plainNumber is a number without zeros behind its decimals: JSON's 2.000 is 2, in every language, where the same
// text from a person may mean two thousand.
func plainNumber(raw string) string {
	if strings.Contains(raw, ".") && !strings.ContainsAny(raw, "eE") {
		return strings.TrimSuffix(strings.TrimRight(raw, "0"), ".")
	}
	return raw
}

// object reads what may stand in place of a name or a text.
func (f *finder) object(flag string, raw json.RawMessage) (string, error) {
	switch flag {
	case "model":
		m, err := modelfile.ReadConfig(bytes.NewReader(raw), broughtModel)
		if err != nil {
			return "", err
		}
		f.models = map[string]*model.Model{broughtModel: m}
		return broughtModel, nil
	case "cluster":
		name := broughtCluster
		if n := len(f.clusters); n > 0 {
			name = fmt.Sprintf("%s %d", broughtCluster, n+1)
		}
		c, err := catalog.ReadCluster(name, raw)
		if err != nil {
			return "", err
		}
		if f.clusters == nil {
			f.clusters = map[string]*hw.Cluster{}
		}
		f.clusters[name] = c
		return name, nil
	case "plan", "against", "turn":
		return planText(raw)
	}
	return "", errors.New("is no object here: write it as a text")
}

// planText is a plan's keys, as answers state them, in the words of --plan.
func planText(raw json.RawMessage) (string, error) {
	of, err := members(raw)
	if err != nil {
		return "", err
	}
	keys := map[string]any{}
	for name, value := range of {
		var v any
		d := json.NewDecoder(bytes.NewReader(value))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			return "", err
		}
		if v != nil { // null leaves a key out
			keys[name] = v
		}
	}
	if keys["prefill"] != nil || keys["decode"] != nil {
		return rolesText(keys)
	}
	var words []string
	for k, v := range keys {
		switch v.(type) {
		case string, json.Number:
		default:
			return "", fmt.Errorf("plan key %q is no number and no word", k)
		}
		switch text := fmt.Sprint(v); {
		case k == "precision": // said by a field of its own
		case text == "0" && (k == "rank" || k == "fsdp"): // no adapters, not that plan: as when left out
		default:
			words = append(words, k+"="+text)
		}
	}
	slices.Sort(words)
	return strings.Join(words, ","), nil
}

// roleKeys are those of a disaggregated plan, as answers state it.
var roleKeys = []string{"prefill", "prefill_workers", "decode", "decode_workers"}

// rolesText is planText of a disaggregated plan.
func rolesText(keys map[string]any) (string, error) {
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(roleKeys, name) {
			return "", ask.UnknownWord("plan key", name, roleKeys, "a plan of two roles has "+strings.Join(roleKeys, ", "))
		}
	}
	var parts []string
	for _, role := range []string{"prefill", "decode"} {
		degrees, ok := keys[role].(string)
		if !ok {
			return "", fmt.Errorf("plan role %q is missing: give its degrees as a text such as tp=8", role)
		}
		if n := keys[role+"_workers"]; n != nil {
			degrees += fmt.Sprintf(",workers=%v", n)
		}
		parts = append(parts, role+":"+degrees)
	}
	return strings.Join(parts, ";"), nil
}
