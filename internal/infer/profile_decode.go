package infer

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
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
	Before    string  `json:"before_version,omitempty"`
	StepUS    float64 `json:"step_us"`
	SeqUS     float64 `json:"sequence_us"`
	PromptUS  float64 `json:"prompt_us"`
	TokenUS   float64 `json:"token_us"`
	LayerUS   float64 `json:"layer_us"`
	Launch    float64 `json:"launch_share"`
	Quantise  float64 `json:"quantise_share"`
	Arrival   float64 `json:"arrival"`
	Admission float64 `json:"admission_steps"`
	EagerUS   float64 `json:"eager_layer_us"`
	RequestUS float64 `json:"request_us"`
	EntryUS   float64 `json:"request_token_us"`
	Sustained float64 `json:"sustained"`
	Tokens    int64   `json:"batch_tokens"`
	Stream    int64   `json:"stream_tokens,omitempty"`
	Separate  bool    `json:"separate_prompts,omitempty"`
	Reserve   bool    `json:"reserve_answer,omitempty"`
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

// Profiles are all stored profiles, a copy.
func Profiles() []Profile { return slices.Clone(loadProfiles()) }

// decodeStrict reads one of the package's lists: an unknown key is an error.
func decodeStrict(data []byte, list any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(list)
}

// DecodeProfiles reads profiles strictly: unknown keys, negative figures and missing
// sources are errors of one line.
func DecodeProfiles(data []byte) ([]Profile, error) {
	var rows []profileRow
	if err := decodeStrict(data, &rows); err != nil {
		return nil, fmt.Errorf("engine profiles: %w", err)
	}
	var out []Profile
	for i, r := range rows {
		g, ok := hw.ParseGrade(r.Grade)
		switch {
		case r.Engine == "" || r.Source == "" || !ok || g == hw.Absent:
			return nil, fmt.Errorf("engine profile %d: give engine, source and a grade of assumed, datasheet, published or measured", i+1)
		case r.Before != "" && len(numbersOf(r.Before)) == 0:
			return nil, fmt.Errorf("engine profile %d (%s): before_version %q starts with no number: give one such as 1.1", i+1, r.Engine, r.Before)
		case min(r.StepUS, r.SeqUS, r.PromptUS, r.TokenUS, r.LayerUS, r.EagerUS, r.RequestUS, r.EntryUS) < 0:
			return nil, fmt.Errorf("engine profile %d (%s): a time is negative: give 0 or more", i+1, r.Engine)
		case r.Launch < 0 || r.Quantise < 0 || r.Quantise > 1 || r.Arrival < 0 || r.Admission < 0:
			return nil, fmt.Errorf("engine profile %d (%s): launch_share, arrival and admission_steps are at least 0, quantise_share lies between 0 and 1", i+1, r.Engine)
		case r.Sustained < 0 || r.Sustained > 1 || r.Tokens < 1 || r.Stream < 0:
			return nil, fmt.Errorf("engine profile %d (%s): sustained lies between 0 and 1, batch_tokens is at least 1, stream_tokens at least 0", i+1, r.Engine)
		}
		us := func(v float64) unit.Seconds { return unit.Seconds(v * 1e-6) }
		out = append(out, Profile{Engine: r.Engine, Arch: r.Arch, Before: r.Before, Step: us(r.StepUS), Sequence: us(r.SeqUS), Prompt: us(r.PromptUS), Token: us(r.TokenUS),
			Launch: r.Launch, Quantise: r.Quantise, Arrival: r.Arrival, Admission: r.Admission, Layer: us(r.LayerUS), EagerLayer: us(r.EagerUS), Request: us(r.RequestUS), RequestToken: us(r.EntryUS), Sustained: r.Sustained, BatchTokens: r.Tokens, Stream: r.Stream, Separate: r.Separate, Reserve: reservation(r.Reserve), Grade: g, Source: r.Source})
	}
	return out, nil
}

// reservation is an engine's, which sets aside the whole answer or the prompt.
func reservation(answer bool) Reservation {
	if answer {
		return ReserveAnswer
	}
	return ReservePrompt
}

// EncodeProfiles writes profiles as DecodeProfiles reads them, a line each.
func EncodeProfiles(list []Profile) ([]byte, error) {
	var out bytes.Buffer
	for i := range list {
		p := &list[i]
		us := func(t unit.Seconds) float64 { return math.Round(float64(t)*1e8) / 100 }
		share := func(v float64) float64 { return math.Round(v*1e3) / 1e3 }
		row := profileRow{Engine: p.Engine, Arch: p.Arch, Before: p.Before, StepUS: us(p.Step), SeqUS: us(p.Sequence), PromptUS: us(p.Prompt), TokenUS: us(p.Token),
			LayerUS: us(p.Layer), Launch: share(p.Launch), Quantise: share(p.Quantise), Arrival: share(p.Arrival), Admission: math.Round(p.Admission*10) / 10,
			EagerUS: us(p.EagerLayer), RequestUS: us(p.Request), EntryUS: us(p.RequestToken), Sustained: share(p.Sustained), Tokens: p.BatchTokens, Stream: p.Stream, Separate: p.Separate, Reserve: p.Reserve == ReserveAnswer,
			Grade: p.Grade.String(), Source: p.Source}
		data, err := json.Marshal(row)
		if err != nil {
			return nil, err
		}
		out.WriteString([]string{"[\n  ", ",\n  "}[min(i, 1)])
		out.Write(data)
	}
	out.WriteString("\n]\n")
	return out.Bytes(), nil
}
