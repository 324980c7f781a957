package modelfile

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/model"
)

// ReadConfig reads a Hugging Face config.json; name is the file's name for
// messages and the model's Name. Errors are one line that names file, field and
// mend: JSON that is broken, larger than 2 MiB or not an object; an
// architecture or a field that is not understood; a size missing, of the wrong
// type or beyond any published model.
func ReadConfig(r io.Reader, name string) (*model.Model, error) {
	m, err := readConfig(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	m.Name, m.Source = name, name
	return m, nil
}

func readConfig(r io.Reader) (*model.Model, error) {
	raw, err := readObject(r)
	if err != nil {
		return nil, err
	}
	top := newFields("", raw)
	fam, arch, err := findFamily(top)
	if err != nil {
		return nil, err
	}
	m := &model.Model{Architecture: arch}
	body := top
	if fam.text != "" {
		if body, err = textPart(top, fam.text, m); err != nil {
			return nil, err
		}
	}
	fam.build(body, m)
	readCheckpoint(top, body, m)
	for _, f := range slices.Compact([]*fields{top, body}) {
		for _, key := range []string{"is_encoder_decoder", "add_cross_attention"} {
			f.must(key, false, "only decoder-only models are described")
		}
		skipped, err := f.finish()
		if err != nil {
			return nil, err
		}
		m.Unsupported = append(m.Unsupported, skipped...)
	}
	if err := m.Check(); err != nil {
		return nil, err
	}
	return m, nil
}

// findFamily picks the reader from model_type, or from architectures where the
// file has no model_type; the two must agree.
func findFamily(f *fields) (fam family, arch string, err error) {
	kind, archs := f.text("model_type", ""), f.texts("architectures")
	if f.err != nil {
		return fam, "", f.err
	}
	if len(archs) > 1 {
		return fam, "", fmt.Errorf("architectures lists %d; keep the one to plan for", len(archs))
	}
	if kind == "" && len(archs) == 1 {
		for _, k := range knownTypes() {
			if kind == "" && slices.Contains(families[k].architectures, archs[0]) {
				kind = k
			}
		}
		if kind == "" {
			return fam, "", fmt.Errorf("architecture %s is not understood; known are %s", show(archs[0]), knownArchitectures())
		}
	}
	if kind == "" {
		return fam, "", fmt.Errorf("model_type and architectures are missing; add one of them")
	}
	fam, ok := families[kind]
	if !ok {
		return fam, "", fmt.Errorf("model_type %s is not understood; known are %s", show(kind), strings.Join(knownTypes(), " "))
	}
	if len(archs) == 0 {
		return fam, fam.architectures[0], nil
	}
	if !slices.Contains(fam.architectures, archs[0]) {
		return fam, "", fmt.Errorf("architecture %s is not understood for model_type %s; expected %s", show(archs[0]), kind, strings.Join(fam.architectures, " or "))
	}
	return fam, archs[0], nil
}

// textPart finds the language model inside a multimodal configuration and
// records the towers that are left out.
func textPart(top *fields, key string, m *model.Model) (*fields, error) {
	body := top.object(key)
	if top.err != nil {
		return nil, top.err
	}
	if body == nil && top.has("hidden_size") { // older files have no nested object
		body = top
	}
	if body == nil {
		return nil, fmt.Errorf("%s is missing; add it", key)
	}
	body.used["model_type"], body.used["architectures"] = true, true
	for _, tower := range []string{"vision_config", "audio_config"} {
		if top.has(tower) {
			m.Unsupported = append(m.Unsupported, tower+": only the text part is modelled")
		}
		top.used[tower] = true
	}
	// Multimodal files state the tie beside the text part or inside it.
	if top.has("tie_word_embeddings") && !body.has("tie_word_embeddings") {
		body.m["tie_word_embeddings"] = top.m["tie_word_embeddings"]
	}
	top.used["tie_word_embeddings"] = true
	return body, nil
}
