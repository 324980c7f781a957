package argv

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// List is the flags of one engine in one version.
type List struct {
	Engine  string `json:"engine"`
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Source  string `json:"source"` // repository and files that define the flags
	Licence string `json:"licence"`
	// Registry maps torchtitan's modules to their configuration functions.
	Registry map[string][]string `json:"registry,omitempty"`
	// JSONClasses are the keys of flags whose value is an object.
	JSONClasses map[string][]Flag `json:"json_classes,omitempty"`
	Flags       []Flag            `json:"flags"`

	byName map[string]*Flag // names, aliases and off forms
	rules  grammar
}

// Flag is one row of a list.
type Flag struct {
	Name        string          `json:"name"`
	Aliases     []string        `json:"aliases,omitempty"`
	Type        Type            `json:"type"`
	Choices     []string        `json:"choices,omitempty"`
	ChoicesOpen bool            `json:"choices_open,omitempty"` // other values are accepted too
	Also        []string        `json:"also,omitempty"`         // other types, or words that are accepted too
	Default     json.RawMessage `json:"default,omitempty"`
	Nullable    bool            `json:"nullable,omitempty"`
	Nargs       string          `json:"nargs,omitempty"`    // "+", "*", "?", "append" or a count; "" = one value, none for a bool
	Negation    []string        `json:"negation,omitempty"` // off forms
	JSONClass   string          `json:"json_class,omitempty"`
	HumanInt    bool            `json:"human_readable_int,omitempty"` // 32k is 32000, 32K is 32768
	Deprecated  bool            `json:"deprecated,omitempty"`
	ReplacedBy  string          `json:"replaced_by,omitempty"`
	Ends        bool            `json:"error,omitempty"` // listed, and ends the program
	Multiple    bool            `json:"multiple,omitempty"`
	Subcommand  string          `json:"subcommand,omitempty"`
}

// Type is the type of a flag's value.
type Type string

// The types of the lists.
const (
	Int   Type = "int"
	Float Type = "float"
	Str   Type = "str"
	Bool  Type = "bool"
	Enum  Type = "enum"
	JSON  Type = "json"
)

//go:embed data/*.json
var data embed.FS

// The engines, as the command line names them.
const (
	VLLM           = "vllm"
	SGLang         = "sglang"
	TRTLLM         = "trtllm"
	LlamaCPP       = "llamacpp"
	MegatronLM     = "megatron-lm"
	MegatronBridge = "megatron-bridge"
	TorchTitan     = "torchtitan"
)

// Engines lists the engines that have a flag list.
func Engines() []string {
	return []string{VLLM, SGLang, TRTLLM, LlamaCPP, MegatronLM, MegatronBridge, TorchTitan}
}

var lists = sync.OnceValue(func() map[string]*List {
	all := map[string]*List{}
	for _, e := range Engines() {
		b, err := data.ReadFile("data/" + e + ".json")
		if err != nil {
			panic(err) // the file is embedded
		}
		l, err := Decode(b)
		if err != nil {
			panic(fmt.Sprintf("flag list of %s: %v", e, err))
		}
		all[e] = l
	}
	return all
})

// Load returns the flag list of an engine. An empty version means the one there
// is; another version is an error that names it. The list must not be changed.
func Load(engine, version string) (*List, error) {
	l := lists()[engine]
	switch {
	case l == nil:
		return nil, fmt.Errorf("engine %q is unknown: use one of %s", engine, strings.Join(Engines(), ", "))
	case version == "" || release(version) == release(l.Version):
		return l, nil
	}
	return nil, fmt.Errorf("no flag list of %s %s: the nearest is %s", engine, version, l.Version)
}

// release is a version without its v, and of a first release without the 0 of its patch.
func release(version string) string {
	version = strings.TrimPrefix(version, "v")
	if strings.Count(version, ".") == 2 {
		return strings.TrimSuffix(version, ".0")
	}
	return version
}

// Decode reads a list strictly: an unknown key, a type that is none, or a name
// that two flags share is an error.
func Decode(b []byte) (*List, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	l := &List{byName: map[string]*Flag{}}
	if err := d.Decode(l); err != nil {
		return nil, err
	}
	if l.Engine == "" || l.Version == "" || l.Source == "" {
		return nil, fmt.Errorf("a list needs engine, version and source")
	}
	l.rules = grammars[l.Engine]
	for i := range l.Flags {
		f := &l.Flags[i]
		switch f.Type {
		case Int, Float, Str, Bool, Enum, JSON:
		default:
			return nil, fmt.Errorf("flag %s has type %q", f.Name, f.Type)
		}
		names := append(append([]string{f.Name}, f.Aliases...), f.Negation...)
		for _, n := range names {
			key := l.key(f.Subcommand, n)
			if l.byName[key] != nil {
				return nil, fmt.Errorf("flag %s is listed twice", n)
			}
			l.byName[key] = f
		}
	}
	return l, nil
}

// key is how the list files a name: by subcommand where an engine has several.
func (l *List) key(sub, name string) string {
	if sub == "" || sub == "serve" {
		return l.rules.fold(name)
	}
	return sub + " " + l.rules.fold(name)
}

// Flag finds a flag by any of its names, nil where the list has none.
func (l *List) Flag(name string) *Flag { return l.byName[l.rules.fold(name)] }

// off tells whether name is an off form of f.
func (l *List) off(f *Flag, name string) bool {
	for _, n := range f.Negation {
		if l.rules.fold(n) == l.rules.fold(name) {
			return true
		}
	}
	return false
}
