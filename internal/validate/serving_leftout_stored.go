package validate

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// LeftOutServing is how the published serving runs are predicted with profiles that did not
// see them: stored, since every engine is fitted anew for each part left out.
type LeftOutServing struct {
	Rows int          `json:"rows"` // of the table of runs
	Cuts []LeftOutCut `json:"cuts"`
}

// LeftOutCut is one way to leave runs out: by model, by gpu, by engine, or a fifth of them at a time, by
// CutRow and CutService. Its groups have the key which: "each" for all runs together, or
// the name of a model, a GPU or an engine whose runs they are.
type LeftOutCut struct {
	LeftOut string  `json:"left_out"`
	Written string  `json:"written"` // the day
	Groups  []Group `json:"groups"`
}

// folded tells a cut into fifths from one whose model or GPU no constant saw.
func (c *LeftOutCut) folded() bool { return c.LeftOut == CutRow || c.LeftOut == CutService }

//go:embed serving_left_out.json
var leftOutFile []byte

// StoredLeftOut is what TestServingLeaveOut wrote with -update.
var StoredLeftOut = sync.OnceValue(func() *LeftOutServing {
	var s LeftOutServing
	if err := json.Unmarshal(leftOutFile, &s); err != nil {
		panic("validate: serving_left_out.json: " + err.Error()) // embedded; the tests rule it out
	}
	return &s
})
