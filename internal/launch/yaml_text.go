package launch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	yamlnode "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// lineBreaks are characters that YAML 1.1 takes for the end of a line, or for a mark of
// the encoding: left as they are, its readers fold them into a blank.
const lineBreaks = "\u0085\u2028\u2029\ufeff"

// yamlText writes a value as YAML. Texts with lineBreaks are written with escapes: the
// usual writer reads JSON as YAML on its way, and folds them there.
func yamlText(v any) (string, error) {
	j, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	text, special := string(j), false
	for _, c := range lineBreaks { // of which JSON itself escapes two
		escaped := fmt.Sprintf(`\u%04x`, c)
		text = strings.ReplaceAll(text, string(c), escaped)
		special = special || strings.Contains(text, escaped)
	}
	if !special {
		y, err := yaml.Marshal(v)
		return string(y), err
	}
	var node yamlnode.Node
	if err := yamlnode.Unmarshal([]byte(text), &node); err != nil {
		return "", err
	}
	restyle(&node)
	var out bytes.Buffer
	e := yamlnode.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(&node); err != nil {
		return "", err
	}
	return out.String(), e.Close()
}

// restyle lays JSON out as blocks. Texts that mean themselves stand plain and scripts as
// blocks; the others keep quotes, in which the writer escapes lineBreaks.
func restyle(n *yamlnode.Node) {
	n.Style = 0
	if special := strings.ContainsAny(n.Value, lineBreaks); n.Kind == yamlnode.ScalarNode && n.Tag == "!!str" && (special || !strings.Contains(n.Value, "\n")) {
		if y, err := yaml.Marshal(n.Value); special || err != nil || string(y) != n.Value+"\n" {
			n.Style = yamlnode.DoubleQuotedStyle
		}
	}
	for _, c := range n.Content {
		restyle(c)
	}
}
