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
