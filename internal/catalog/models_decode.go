package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// modelFile is the form of data/models/*.json: named attentions and FFNs, and a
// stack of layers made of them. With base, the file states only what differs.
type modelFile struct {
	Name          string                   `json:"name"`
	Base          string                   `json:"base"`
	Aliases       []string                 `json:"aliases"`
	HFID          string                   `json:"hf_id"`
	Architecture  string                   `json:"architecture"`
	Hidden        int64                    `json:"hidden"`
	Vocab         int64                    `json:"vocab"`
	Tied          bool                     `json:"tied"`
	Norm          string                   `json:"norm"`
	Positions     int64                    `json:"positions"`
	EmbedNorm     bool                     `json:"embed_norm"`
	MaxContext    int64                    `json:"max_context"`
	Attention     map[string]attentionFile `json:"attention"`
	FFN           map[string]ffnFile       `json:"ffn"`
	NormsPerLayer *int64                   `json:"norms_per_layer"`
	Stack         []runFile                `json:"stack"`
	MTP           *mtpFile                 `json:"mtp"`
	Weights       string                   `json:"weights"`
	Experts       string                   `json:"experts"`
	Unsupported   []string                 `json:"unsupported"` // parts of the published model left out
	Published     publishedFile            `json:"published"`
	Source        string                   `json:"source"`
	Notes         []string                 `json:"notes"`
}

// runFile repeats a group of layers, each written attention/ffn.
type runFile struct {
	Repeat int64    `json:"repeat"`
	Layers []string `json:"layers"`
}

type mtpFile struct {
	Modules int64  `json:"modules"`
	Layer   string `json:"layer"`
	OwnHead bool   `json:"own_head"`
}

type publishedFile struct {
	TotalB  json.Number `json:"total_b"`
	ActiveB json.Number `json:"active_b"`
	Source  string      `json:"source"`
	Gap     string      `json:"gap"`
}

// load decodes name.json over its base.
func (m *modelFile) load(name string) error {
	data, err := modelFiles.ReadFile("data/models/" + name + ".json")
	if err != nil {
		return err
	}
	var own struct {
		Base string `json:"base"`
	}
	if err := json.Unmarshal(data, &own); err != nil {
		return fmt.Errorf("%s.json: %w", name, err)
	}
	if own.Base != "" {
		if err := m.load(own.Base); err != nil {
			return err
		}
		if m.Base != "" {
			return fmt.Errorf("%s.json: base %s has a base itself; name that one", name, own.Base)
		}
		m.HFID, m.Aliases, m.Unsupported, m.Published, m.Source, m.Notes = "", nil, nil, publishedFile{}, "", nil
	}
	if err := decodeStrict(data, m); err != nil {
		return fmt.Errorf("%s.json: %w", name, err)
	}
	if m.Name != name {
		return fmt.Errorf("%s.json: name is %q; it must be the file's", name, m.Name)
	}
	return nil
}

func decodeStrict(data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(v)
}

var normKinds = map[string]model.Norm{"": model.RMSNorm, "layernorm": model.LayerNorm, "layernorm-no-bias": model.LayerNormNoBias}

// entry builds and checks the model.
func (m *modelFile) entry() (*ModelEntry, error) {
	if m.Source == "" {
		return nil, errors.New("source is missing; say where the shapes come from")
	}
	norm, ok := normKinds[m.Norm]
	if !ok {
		return nil, fmt.Errorf("norm %q is not understood; known are layernorm layernorm-no-bias, and RMSNorm without the key", m.Norm)
	}
	out := &model.Model{
		Name: m.Name, HFID: m.HFID, Architecture: m.Architecture, Hidden: m.Hidden, Vocab: m.Vocab, Tied: m.Tied, Norm: norm,
		Positions: m.Positions, EmbedNorm: m.EmbedNorm, MaxContext: m.MaxContext, Source: m.Source, Unsupported: m.Unsupported,
	}
	if err := m.layers(out); err != nil {
		return nil, err
	}
	if err := m.checkpoint(out); err != nil {
		return nil, err
	}
	if err := out.Check(); err != nil {
		return nil, err
	}
	e := &ModelEntry{Model: out, Aliases: m.Aliases, PublishedSource: m.Published.Source, Gap: m.Published.Gap, Notes: m.Notes}
	var err error
	if e.PublishedTotal, err = published(m.Published.TotalB); err != nil {
		return nil, err
	}
	if e.PublishedActive, err = published(m.Published.ActiveB); err != nil {
		return nil, err
	}
	if e.PublishedSource == "" {
		e.PublishedSource = m.Source
	}
	return e, nil
}

func (m *modelFile) checkpoint(out *model.Model) error {
	out.Checkpoint = model.Checkpoint{Weights: unit.BF16, Experts: unit.BF16}
	var ok bool
	if m.Weights != "" {
		if out.Checkpoint.Weights, ok = unit.ParseFormat(m.Weights); !ok {
			return fmt.Errorf("weights %q is not a format", m.Weights)
		}
	}
	if m.Experts != "" {
		if out.Checkpoint.Experts, ok = unit.ParseFormat(m.Experts); !ok {
			return fmt.Errorf("experts %q is not a format", m.Experts)
		}
	}
	return nil
}

func (m *modelFile) layers(out *model.Model) error {
	for _, run := range m.Stack {
		for range run.Repeat {
			for _, name := range run.Layers {
				l, err := m.layer(name)
				if err != nil {
					return err
				}
				out.Layers = append(out.Layers, l)
			}
		}
	}
	if m.MTP == nil {
		return nil
	}
	out.MTPOwnHead = m.MTP.OwnHead
	for range m.MTP.Modules {
		l, err := m.layer(m.MTP.Layer)
		if err != nil {
			return err
		}
		out.MTP = append(out.MTP, l)
	}
	return nil
}

// layer makes one layer of a name such as full/moe.
func (m *modelFile) layer(name string) (model.Layer, error) {
	attention, ffn, _ := strings.Cut(name, "/")
	a, okA := m.Attention[attention]
	f, okF := m.FFN[ffn]
	if !okA || !okF {
		return model.Layer{}, fmt.Errorf("layer %q is not attention/ffn of the file's own names", name)
	}
	l := model.Layer{FFN: f.ffn(), Norms: 2}
	if m.NormsPerLayer != nil {
		l.Norms = *m.NormsPerLayer
	}
	var err error
	l.Attention, err = a.attention()
	return l, err
}
