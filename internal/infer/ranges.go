package infer

import (
	_ "embed"
	"fmt"
	"slices"
	"sync"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// RangeShare is how often a range says that it holds the measured value.
const RangeShare = 0.8

// Range is where RangeShare of measured values lie, as factors on the predicted one.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Of is the range of a predicted time, which no measurement beats the floor of.
func (r Range) Of(t, floor unit.Seconds) [2]unit.Seconds {
	return [2]unit.Seconds{max(t*unit.Seconds(r.Low), min(floor, t)), t * unit.Seconds(r.High)}
}

// Ranges is how far measured services lie from predictions: the spread of the errors
// over measured runs, as wide as each model's runs need when it is left out.
type Ranges struct {
	// Measured tells whether kernels were measured on the GPU itself and an engine on its
	// generation; else stand-ins price both, or figures of a sister.
	Measured bool `json:"measured"`
	// Engine is OtherEngine where no run of the engine is known, whatever the GPU; "" else.
	Engine string `json:"engine,omitempty"`
	TPOT   Range  `json:"tpot"`
	TTFT   Range  `json:"ttft"` // of loads below saturation, see Point.Valid
	// HeldTPOT and HeldTTFT are the shares of runs inside, each model's judged by the
	// others' errors.
	HeldTPOT float64 `json:"held_out_tpot"`
	HeldTTFT float64 `json:"held_out_ttft"`
	Rows     int     `json:"rows"`
	Source   string  `json:"source"`
}

//go:embed ranges.json
var rangesFile []byte

var loadRanges = sync.OnceValue(func() []Ranges {
	rs, err := DecodeRanges(rangesFile)
	if err != nil {
		panic("infer: " + err.Error()) // embedded; the tests rule it out
	}
	return rs
})

// DecodeRanges reads the three entries of ranges strictly.
func DecodeRanges(data []byte) ([]Ranges, error) {
	var rs []Ranges
	if err := decodeStrict(data, &rs); err != nil {
		return nil, fmt.Errorf("ranges: %w", err)
	}
	if len(rs) != 3 || !rs[0].Measured || rs[1].Measured || rs[2].Measured || rs[2].Engine != OtherEngine {
		return nil, fmt.Errorf("ranges: give one entry of measured generations, one of others and one of engine %s", OtherEngine)
	}
	for i := range rs {
		for _, r := range []Range{rs[i].TPOT, rs[i].TTFT} {
			if !(r.Low > 0 && r.Low <= 1 && r.High >= 1) || rs[i].Source == "" {
				return nil, fmt.Errorf("ranges: entry %d: low lies between 0 and 1, high at 1 or above, with a source", i+1)
			}
		}
	}
	return rs, nil
}

// AllRanges are the ranges of GPUs with kernels of their own, then of others, then of OtherEngine.
func AllRanges() []Ranges { return slices.Clone(loadRanges()) }

// Ranges is how far to trust the engine's predictions: as on unmeasured GPUs where kernels
// widen weights that nobody measured so.
func (e *Engine) Ranges() *Ranges {
	rs := loadRanges()
	if e.profile.Engine == OtherEngine {
		return &rs[2]
	}
	if ranHere(e.profile, e.setup.Cluster.Device) && !e.narrow {
		return &rs[0]
	}
	return &rs[1]
}
