package infer

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"github.com/ridgeline/ridgeline/internal/hw"
)

// Drafting is what an engine gives up while it speculates. Versions that give up
// nothing have none.
type Drafting struct {
	Engine string
	Before string // the version from which on it no longer does
	// Sequences is the most that generate at once on a replica, unless the operator says
	// otherwise; 0 = as without speculation. Requests beyond wait for their first token.
	Sequences int64
	// Unhidden is the scheduler's time that shows over a step's: speculation takes back
	// what runs it behind the device.
	Unhidden float64
	Grade    hw.Grade
	Source   string
}

//go:embed drafting.json
var draftingFile []byte

var loadDrafting = sync.OnceValue(func() []Drafting {
	list, err := DecodeDrafting(draftingFile)
	if err != nil {
		panic("infer: " + err.Error()) // embedded; the tests rule it out
	}
	return list
})

// DecodeDrafting reads the list strictly: errors are one line.
func DecodeDrafting(data []byte) ([]Drafting, error) {
	var rows []struct {
		Engine    string  `json:"engine"`
		Before    string  `json:"before_version"`
		Sequences int64   `json:"sequences"`
		Unhidden  float64 `json:"unhidden"`
		Grade     string  `json:"grade"`
		Source    string  `json:"source"`
	}
	if err := decodeStrict(data, &rows); err != nil {
		return nil, fmt.Errorf("what engines give up while they draft: %w", err)
	}
	var list []Drafting
	for i, r := range rows {
		g, ok := hw.ParseGrade(r.Grade)
		if r.Engine == "" || len(numbersOf(r.Before)) == 0 || r.Source == "" || !ok || g == hw.Absent || r.Sequences < 0 || !(r.Unhidden >= 0) {
			return nil, fmt.Errorf("what engines give up while they draft, entry %d: give engine, before_version, grade and source; figures are at least 0", i+1)
		}
		list = append(list, Drafting{r.Engine, r.Before, r.Sequences, r.Unhidden, g, r.Source})
	}
	return list, nil
}

// draftingOf is what an engine's version gives up; nil = nothing, as do versions that
// nobody states.
func draftingOf(engine, version string) *Drafting {
	for i, list := 0, loadDrafting(); i < len(list); i++ {
		if d := &list[i]; d.Engine == engine && older(version, d.Before) {
			return d
		}
	}
	return nil
}

// SplitEngine reads sglang or sglang@0.4.
func SplitEngine(text string) (engine, version string, err error) {
	engine, version, given := strings.Cut(strings.ToLower(text), "@")
	if given && len(numbersOf(version)) == 0 {
		return "", "", fmt.Errorf("engine %q: a version starts with a number, such as sglang@0.4", text)
	}
	return engine, version, nil
}

// DraftingSequences is how many sequences of a replica the engine's version generates
// for at once while it speculates; 0 = no fewer than without.
func (e *Engine) DraftingSequences(spec *Speculation) int64 {
	if d := e.profile.Drafting; d != nil && spec != nil && spec.Drafts > 0 {
		return d.Sequences
	}
	return 0
}
