package catalog

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/ridgeline/ridgeline/internal/model"
)

//go:embed data/models/*.json
var modelFiles embed.FS

// ModelEntry is one model of the catalogue with what its publisher says of it.
type ModelEntry struct {
	Model           *model.Model
	Aliases         []string
	PublishedTotal  Published
	PublishedActive Published // of MoE models; conventions differ on counting embedding and head
	PublishedSource string
	Gap             string // why the shapes count to something else than the published total, where they do
	Notes           []string
}

// Published is a parameter count as printed. HalfDigit is half a unit of its
// last digit, the most that rounding can hide. Both in parameters, 0 = unknown.
type Published struct {
	Value, HalfDigit float64
}

// published turns a figure in billions into a count and its rounding.
func published(billions json.Number) (Published, error) {
	if billions == "" {
		return Published{}, nil
	}
	v, err := billions.Float64()
	if err != nil || v <= 0 {
		return Published{}, fmt.Errorf("published figure %q is not a positive number of billions", billions)
	}
	half := 0.5e9
	if _, digits, ok := strings.Cut(string(billions), "."); ok {
		for range digits {
			half /= 10
		}
	}
	return Published{Value: v * 1e9, HalfDigit: half}, nil
}

type modelIndex struct {
	entries []ModelEntry
	names   []string
	byName  map[string]int
}

// loadModels decodes the embedded files once. A broken file is a fault of the
// program, not of its input; the catalogue's tests rule it out.
var loadModels = sync.OnceValue(func() *modelIndex {
	ix, err := readModels()
	if err != nil {
		panic("catalog: " + err.Error())
	}
	return ix
})

func readModels() (*modelIndex, error) {
	dir, err := modelFiles.ReadDir("data/models")
	if err != nil {
		return nil, err
	}
	ix := &modelIndex{byName: map[string]int{}}
	for _, f := range dir {
		e, err := readEntry(strings.TrimSuffix(f.Name(), ".json"))
		if err != nil {
			return nil, err
		}
		ix.entries = append(ix.entries, *e)
		ix.names = append(ix.names, e.Model.Name)
		for _, name := range append([]string{e.Model.Name}, e.Aliases...) {
			if err := ix.add(name, len(ix.entries)-1); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name(), err)
			}
		}
		if id := e.Model.HFID; id != "" {
			if err := ix.add(foldName(id), len(ix.entries)-1); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name(), err)
			}
		}
	}
	return ix, nil
}

func (ix *modelIndex) add(name string, at int) error {
	if _, taken := ix.byName[name]; taken || name != foldName(name) {
		return fmt.Errorf("name %q is taken or not in lower case without meta-", name)
	}
	ix.byName[name] = at
	return nil
}

// readEntry decodes data/models/name.json.
func readEntry(name string) (*ModelEntry, error) {
	var file modelFile
	if err := file.load(name); err != nil {
		return nil, err
	}
	e, err := file.entry()
	if err != nil {
		return nil, fmt.Errorf("%s.json: %w", name, err)
	}
	return e, nil
}

// foldName is the form in which names are compared: lower case, without the
// Meta- that some ids put before Llama.
func foldName(name string) string {
	return strings.Replace(strings.ToLower(strings.TrimSpace(name)), "meta-llama-", "llama-", 1)
}

// Model returns the model of a catalogue name, alias or Hugging Face id; case
// does not matter, nor does Meta- before Llama. An unknown name is an error with
// the nearest names. The model is the caller's own copy.
func Model(name string) (*model.Model, error) {
	ix := loadModels()
	at, ok := ix.byName[foldName(name)]
	if !ok {
		return nil, unknownName("model", name, ix.names, "ridgeline models")
	}
	return copyEntry(at).Model, nil
}

// Models lists the catalogue, sorted by name. The entries are the caller's own copies.
func Models() []ModelEntry {
	out := make([]ModelEntry, len(loadModels().entries))
	for i := range out {
		out[i] = *copyEntry(i)
	}
	return out
}

// copyEntry decodes the entry's file again: the cheapest deep copy to keep right.
func copyEntry(at int) *ModelEntry {
	e, err := readEntry(path.Base(loadModels().entries[at].Model.Name))
	if err != nil {
		panic("catalog: " + err.Error()) // it decoded once already
	}
	return e
}
