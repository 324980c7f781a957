package validate

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// LeftOutServing is how the published serving runs are predicted with profiles that did not
// see their model, or their GPU: stored, since every engine is fitted anew for each of them.
type LeftOutServing struct {
	Written string `json:"written"` // the day
	Rows    int    `json:"rows"`    // of the table of runs, those in no fit included
	// Groups have the keys left_out (model or gpu) and which: "each", a model's, a GPU's or an
	// engine's name.
	Groups []Group `json:"groups"`
}

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
