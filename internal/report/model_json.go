package report

import (
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// ModelDoc is a model in JSON. Parameters leave MTP modules out;
// ActiveParameters count embedding and head; KVBytesPerToken is at 16 bit.
type ModelDoc struct {
	Name                 string           `json:"name"`
	HFID                 string           `json:"hf_id,omitempty"`
	Architecture         string           `json:"architecture"`
	Parameters           int64            `json:"parameters"`
	ActiveParameters     int64            `json:"active_parameters"`
	MTPParameters        int64            `json:"mtp_parameters"`
	CheckpointParameters int64            `json:"checkpoint_parameters"`
	ParametersByPart     map[string]int64 `json:"parameters_by_part"`
	Layers               int              `json:"layers"`
	MTPModules           int              `json:"mtp_modules"`
	Hidden               int64            `json:"hidden"`
	Vocabulary           int64            `json:"vocabulary"`
	MaxContext           int64            `json:"max_context,omitempty"`
	Attention            string           `json:"attention"`
	Experts              int64            `json:"experts"`
	ExpertsPerToken      int64            `json:"experts_per_token"`
	KVBytesPerToken      float64          `json:"kv_bytes_per_token"`
	FLOPsPerToken        FLOPsDoc         `json:"flops_per_token"`
	Checkpoint           CheckpointDoc    `json:"checkpoint"`
	Published            *PublishedDoc    `json:"published,omitempty"`
	Unsupported          []string         `json:"unsupported"`
	Notes                []string         `json:"notes,omitempty"`
	Source               string           `json:"source,omitempty"`
}

// FLOPsDoc is the work of training on one token of a sequence of Seq: forward
// and backward, head included, recomputation not.
type FLOPsDoc struct {
	Seq           int64   `json:"seq"`
	Causal        float64 `json:"causal"`
	Full          float64 `json:"full"`
	CausalWithMTP float64 `json:"causal_with_mtp"`
}

// CheckpointDoc is the storage of the published weights.
type CheckpointDoc struct {
	Weights  string   `json:"weights"`
	Experts  string   `json:"experts"`
	KeptBF16 []string `json:"kept_16_bit,omitempty"`
}

// PublishedDoc is what the publisher says, in parameters; zero figures are unknown.
type PublishedDoc struct {
	Parameters       float64 `json:"parameters,omitempty"`
	ActiveParameters float64 `json:"active_parameters,omitempty"`
	Source           string  `json:"source"`
	Gap              string  `json:"gap,omitempty"`
}

// NewModelDoc describes one model; entry is nil for a file's model.
func NewModelDoc(m *model.Model, entry *catalog.ModelEntry, seq int64) *ModelDoc {
	d := &ModelDoc{Name: m.Name, HFID: m.HFID, Architecture: m.Architecture, Parameters: m.Params(), ActiveParameters: m.ActiveParams(),
		MTPParameters: m.MTPParams(), CheckpointParameters: m.CheckpointParams(), ParametersByPart: map[string]int64{},
		Layers: len(m.Layers), MTPModules: len(m.MTP), Hidden: m.Hidden, Vocabulary: m.Vocab, MaxContext: m.MaxContext,
		Attention: m.AttentionSummary(), Experts: m.MaxExperts(), KVBytesPerToken: m.KVBytesPerToken(unit.BF16, 0),
		FLOPsPerToken: FLOPsDoc{seq, float64(m.FLOPsPerToken(seq, model.Causal, 0)), float64(m.FLOPsPerToken(seq, model.Full, 0)),
			float64(m.FLOPsPerToken(seq, model.Causal, len(m.MTP)))},
		Checkpoint:  CheckpointDoc{m.Checkpoint.Weights.String(), m.Checkpoint.Experts.String(), m.Checkpoint.KeptBF16},
		Unsupported: append([]string{}, m.Unsupported...), Source: m.Source}
	for role, n := range m.RoleParams() {
		if n > 0 {
			d.ParametersByPart[model.Role(role).String()] = n
		}
	}
	if f := m.FirstMoE(); f != nil {
		d.ExpertsPerToken = f.TopK
	}
	if entry != nil {
		d.Notes = entry.Notes
		d.Published = &PublishedDoc{entry.PublishedTotal.Value, entry.PublishedActive.Value, entry.PublishedSource, entry.Gap}
	}
	return d
}
