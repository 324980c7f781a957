package report

import (
	"bytes"
	"html/template"
	"io"
)

// htmlPage is a whole document: it loads nothing from elsewhere.
var htmlPage = template.Must(template.New("page").Parse(`<!doctype html>
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

// writeHTML writes a page of one picture and the text that belongs to it.
func writeHTML(w io.Writer, title, command string, picture []byte, text string) error {
	_, svg, _ := bytes.Cut(picture, []byte("?>")) // no XML declaration inside HTML
	return htmlPage.Execute(w, map[string]any{"Title": title, "Command": command, "Text": text,
		"Picture": template.HTML(svg)}) // made by this program, and the drawing library escapes names
}
