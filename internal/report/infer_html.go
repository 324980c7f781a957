package report

import (
	"bytes"
	"io"

	"github.com/ridgeline/ridgeline/internal/api"
)

// InferHTML writes one page with the charts of an answer and its text; command is
// the line that made it.
func InferHTML(w io.Writer, command string, a *api.InferAnswer) error {
	var picture, text bytes.Buffer
	if err := SVG(&picture, InferCharts(a)); err != nil {
		return err
	}
	p := NewPage(&text)
	for _, draw := range inferSections {
		draw(p, a)
	}
	if err := p.Flush(); err != nil {
		return err
	}
	return writeHTML(w, "Serving "+a.Request.Model.Name, command, picture.Bytes(), text.String())
}
