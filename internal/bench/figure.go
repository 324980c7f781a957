package bench

import (
	"encoding/json"
	"math"
)

// Figure is a number that a report may lack, NaN and null in JSON: another tool's file
// did not state it. 0 is always a 0.
type Figure float64

// Unknown is a figure that nobody stated.
func Unknown() Figure { return Figure(math.NaN()) }

// Known tells whether there is a number.
func (f Figure) Known() bool { return !math.IsNaN(float64(f)) }

// MarshalJSON writes a number or null.
func (f Figure) MarshalJSON() ([]byte, error) {
	if !f.Known() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (f *Figure) UnmarshalJSON(b []byte) error {
	var v *float64
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	if *f = Unknown(); v != nil {
		*f = Figure(*v)
	}
	return nil
}
