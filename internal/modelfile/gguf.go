package modelfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	parser "github.com/gpustack/gguf-parser-go"

	"github.com/ridgeline/ridgeline/internal/input"
	"github.com/ridgeline/ridgeline/internal/model"
)

// OpenGGUF reads a model from the header of a GGUF file: shapes from the
// metadata, biases and norms from the tensors that are there, and the count of
// each layer checked against its tensors. Of a sharded model any shard will do;
// all must be present.
func OpenGGUF(path string) (*model.Model, error) {
	paths := parser.CompleteShardGGUFFilename(path)
	if paths == nil {
		paths = []string{path}
	}
	for _, p := range paths {
		if err := guardFile(p); err != nil {
			return nil, err
		}
	}
	file, err := parseGGUF(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m, err := fromGGUF(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.Name, m.Source = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), path
	return m, nil
}

func guardFile(path string) error {
	f, err := input.Open(path)
	if err != nil {
		return plain(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return plain(path, err)
	}
	if err := checkGGUF(f, info.Size()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// parseGGUF calls the library. It panics on some damaged values that the walk
// over the lengths cannot see (a value of another type than its key demands); a
// damaged file is an input error, so the panic becomes one.
func parseGGUF(path string) (file *parser.GGUFFile, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the header is damaged: %s", show(fmt.Sprint(r)))
		}
	}()
	// Mapped, since the library otherwise makes two system calls per word of the vocabulary.
	file, err = parser.ParseGGUFFile(path, parser.SkipLargeMetadata(), parser.UseMMap())
	if err != nil {
		return nil, errors.New(strings.Join(strings.Fields(err.Error()), " ") + "; the file is damaged or incomplete")
	}
	return file, nil
}

// ggufFile is the part of a header that shapes follow from.
type ggufFile struct {
	*fields
	arch    string
	tensors map[string]ggufTensor
	perTag  map[string]int64 // parameters by layer: "3" of blk.3., "" outside the blocks
}

type ggufTensor struct {
	elements int64
	dims     []uint64 // fastest first: a matrix is In x Out
	kind     parser.GGMLType
}

var blockTensor = regexp.MustCompile(`^blk\.(\d+)\.`)

// fromGGUF turns metadata and tensors into a checked model.
func fromGGUF(file *parser.GGUFFile) (*model.Model, error) {
	g := &ggufFile{fields: newFields("", metadata(file)), tensors: map[string]ggufTensor{}, perTag: map[string]int64{}}
	g.arch = g.text("general.architecture", "")
	for _, t := range file.TensorInfos {
		if _, twice := g.tensors[t.Name]; twice {
			return nil, fmt.Errorf("tensor %s appears twice; the file is damaged", show(t.Name))
		}
		n := int64(t.Elements())
		g.tensors[t.Name] = ggufTensor{n, t.Dimensions, t.Type}
		if strings.HasPrefix(t.Name, "rope_f") {
			continue // tables of rotary angles, no parameters
		}
		tag := ""
		if at := blockTensor.FindStringSubmatch(t.Name); at != nil {
			tag = at[1]
		}
		g.perTag[tag] += n
	}
	if !slices.Contains(ggufArchitectures, g.arch) {
		return nil, fmt.Errorf("general.architecture %s is not understood; known are %s", show(g.arch), strings.Join(ggufArchitectures, " "))
	}
	m := &model.Model{Architecture: g.arch}
	g.build(m)
	if g.err == nil {
		g.refuseUnknown()
	}
	if g.err != nil {
		return nil, g.err
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	g.checkpoint(m)
	return m, g.compare(m)
}

// metadata turns the header's scalars into the form that fields reads; arrays
// become empty lists, so that a reader of a number refuses them.
func metadata(file *parser.GGUFFile) map[string]any {
	m := map[string]any{}
	for _, kv := range file.Header.MetadataKV {
		switch v := kv.Value.(type) {
		case string, bool:
			m[kv.Key] = v
		case parser.GGUFMetadataKVArrayValue:
			m[kv.Key] = []any{}
		default:
			m[kv.Key] = json.Number(fmt.Sprint(v))
		}
	}
	return m
}

// refuseUnknown names metadata of the architecture that may change what a token
// attends to, which the tensors' sizes cannot show.
func (g *ggufFile) refuseUnknown() {
	for key := range g.m {
		if g.used[key] || !strings.HasPrefix(key, g.arch+".") {
			continue
		}
		for _, word := range []string{"window", "chunk", "indexer", "ssm", "linear", "compress", "nextn", "interleave"} {
			if strings.Contains(key, word) {
				g.fail(key, "is not understood and may change the model's shapes")
				return
			}
		}
	}
}

// compare holds the counted parameters against the tensors, layer by layer.
func (g *ggufFile) compare(m *model.Model) error {
	outside := m.EmbeddingParams() + m.HeadParams() + m.Norm.Params(m.Hidden)
	if got := g.perTag[""]; got != outside {
		return fmt.Errorf("the tensors outside the layers hold %d parameters but the metadata's shapes make %d; the file is damaged or of a variant that is not understood", got, outside)
	}
	for i := range m.Layers {
		if got, want := g.perTag[strconv.Itoa(i)], m.LayerParams(&m.Layers[i]); got != want {
			return fmt.Errorf("the tensors of layer %d hold %d parameters but the metadata's shapes make %d; the file is damaged or of a variant that is not understood", i, got, want)
		}
	}
	if extra := len(g.perTag) - 1 - len(m.Layers); extra > 0 {
		return fmt.Errorf("%s.block_count is %d but tensors of %d more layers follow; the file is damaged or of a variant that is not understood", g.arch, len(m.Layers), extra)
	}
	return nil
}
