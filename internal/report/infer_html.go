package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/ridgeline/ridgeline/internal/api"
)

// InferHTML writes one page with the charts of an answer and its text; command is
// the line that made it.
func InferHTML(w io.Writer, command string, a *api.InferAnswer) error {
	var picture, text bytes.Buffer
	if err := SVG(&picture, "", InferCharts(a)); err != nil {
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

// InferSVG writes the charts of an answer as one picture that says what they are of.
func InferSVG(w io.Writer, a *api.InferAnswer) error {
	r := a.Request
	var names []string
	for _, c := range r.Clusters {
		names = append(names, c.Name)
	}
	title := fmt.Sprintf("%s on %s, %s tokens in, %s out", r.Model.Name, strings.Join(names, ", "), Grouped(r.ISL), Grouped(r.OSL))
	if oneLayout(a.Best.Points) {
		title += ", " + a.Best.Best.Layout.String()
	}
	return SVG(w, title, InferCharts(a))
}
