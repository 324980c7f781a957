// Package report formats answers for people and programs: text that fits 100
// columns, and JSON. It is the only package that lays out tables and bars; it
// decides how a number looks, never what it is.
package report

import (
	"encoding/json"
	"io"
)

// JSON writes v as one indented document. A value that JSON cannot say (NaN,
// infinity) is an error, so that a defect is never printed as a number.
func JSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
