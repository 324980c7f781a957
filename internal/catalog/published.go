package catalog

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

//go:embed data/published/*.json
var publishedFiles embed.FS

// PublishedRun is a training run that its owners described, in seconds per step
// by kind of pass. It is shown beside predictions and enters none.
type PublishedRun struct {
	Model       string             `json:"model"`
	Device      string             `json:"device"`
	GPUs        int64              `json:"gpus"`
	GlobalBatch int                `json:"global_batch"`
	Seq         int                `json:"seq"`
	Plan        string             `json:"plan"` // in the words of --plan
	Step        float64            `json:"step_seconds"`
	Anatomy     map[string]float64 `json:"anatomy_seconds"`
	Note        string             `json:"note"`
	Source      string             `json:"source"`
}

var publishedRuns = sync.OnceValue(func() []PublishedRun {
	var list []PublishedRun
	entries, err := publishedFiles.ReadDir("data/published")
	if err != nil {
		panic(err) // embedded
	}
	for _, f := range entries {
		data, err := publishedFiles.ReadFile("data/published/" + f.Name())
		if err != nil {
			panic(err)
		}
		var r PublishedRun
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		if err := d.Decode(&r); err != nil || r.Source == "" {
			panic(fmt.Sprintf("%s: %v (source %q)", f.Name(), err, r.Source))
		}
		list = append(list, r)
	}
	return list
})

// FindPublished is a published run of the same job on the same machine, or nil.
func FindPublished(model, device string, gpus int64, globalBatch, seq int) *PublishedRun {
	for _, r := range publishedRuns() {
		if strings.EqualFold(r.Model, model) && r.Device == device && r.GPUs == gpus && r.GlobalBatch == globalBatch && r.Seq == seq {
			return &r
		}
	}
	return nil
}
