package report

import (
	"bytes"
	"html/template"
	"io"

	"github.com/ridgeline/ridgeline/internal/api"
)

// inferPage is a whole document: it loads nothing from elsewhere.
var inferPage = template.Must(template.New("infer").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>{{.Title}}</title>
<style>
body { font: 15px/1.5 Arial, Helvetica, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; color: #222; background: #fff }
svg { max-width: 100%; height: auto }
pre { overflow-x: auto; font: 13px/1.35 monospace }
</style>
<h1>{{.Title}}</h1>
<p><code>{{.Command}}</code></p>
{{.Picture}}
<pre>{{.Text}}</pre>
</html>
`))

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
	_, svg, _ := bytes.Cut(picture.Bytes(), []byte("?>")) // no XML declaration inside HTML
	return inferPage.Execute(w, map[string]any{
		"Title": "Serving " + a.Request.Model.Name, "Command": command,
		"Picture": template.HTML(svg), // made by this program; it holds no text of others
		"Text":    text.String(),
	})
}
