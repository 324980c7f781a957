package infer

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// profilesFile holds the profiles of engines: facts and fits, no code.
//
//go:embed profiles.json
var profilesFile []byte

type profileRow struct {
	Engine    string  `json:"engine"`
	Arch      string  `json:"arch,omitempty"`
	StepUS    float64 `json:"step_us"`
	SeqUS     float64 `json:"sequence_us"`
	PromptUS  float64 `json:"prompt_us"`
	TokenUS   float64 `json:"token_us"`
	LayerUS   float64 `json:"layer_us"`
	HiddenUS  float64 `json:"hidden_us,omitempty"`
	EagerUS   float64 `json:"eager_layer_us"`
	RequestUS float64 `json:"request_us"`
	Sustained float64 `json:"sustained"`
	Tokens    int64   `json:"batch_tokens"`
	Stream    int64   `json:"stream_tokens,omitempty"`
	Separate  bool    `json:"separate_prompts,omitempty"`
	Grade     string  `json:"grade"`
	Source    string  `json:"source"`
}

var loadProfiles = sync.OnceValue(func() []Profile {
	ps, err := DecodeProfiles(profilesFile)
	if err != nil {
		panic("infer: " + err.Error()) // embedded; the tests rule it out
	}
	return ps
})

// DecodeProfiles reads profiles strictly: unknown keys, negative figures and missing
// sources are errors of one line.
func DecodeProfiles(data []byte) ([]Profile, error) {
	var rows []profileRow
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&rows); err != nil {
		return nil, fmt.Errorf("engine profiles: %w", err)
	}
	var out []Profile
	for i, r := range rows {
		g, ok := hw.ParseGrade(r.Grade)
		switch {
		case r.Engine == "" || r.Source == "" || !ok || g == hw.Absent:
			return nil, fmt.Errorf("engine profile %d: give engine, source and a grade of assumed, datasheet, published or measured", i+1)
		case min(r.StepUS, r.SeqUS, r.PromptUS, r.TokenUS, r.LayerUS, r.HiddenUS, r.EagerUS, r.RequestUS) < 0:
			return nil, fmt.Errorf("engine profile %d (%s): a time is negative: give 0 or more", i+1, r.Engine)
		case r.Sustained < 0 || r.Sustained > 1 || r.Tokens < 1 || r.Stream < 0:
			return nil, fmt.Errorf("engine profile %d (%s): sustained lies between 0 and 1, batch_tokens is at least 1, stream_tokens at least 0", i+1, r.Engine)
		}
		us := func(v float64) unit.Seconds { return unit.Seconds(v * 1e-6) }
		out = append(out, Profile{Engine: r.Engine, Arch: r.Arch, Step: us(r.StepUS), Sequence: us(r.SeqUS), Prompt: us(r.PromptUS), Token: us(r.TokenUS),
			Hidden: us(r.HiddenUS), Layer: us(r.LayerUS), EagerLayer: us(r.EagerUS), Request: us(r.RequestUS), Sustained: r.Sustained, BatchTokens: r.Tokens, Stream: r.Stream, Separate: r.Separate, Grade: g, Source: r.Source})
	}
	return out, nil
}
