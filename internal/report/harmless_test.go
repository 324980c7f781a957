package report

import (
	"testing"

	"github.com/ridgeline/ridgeline/internal/store"
)

// Names of a file that was imported reach no terminal as anything but text: no colours, no
// lines of their own, no columns out of place.
func TestTextsSteerNoTerminal(t *testing.T) {
	got := page(t, 100, func(p *Page) {
		Runs(p, []*store.Run{{ID: 1, Kind: store.Bench, Model: "evil\x1b[31mred\n\nrow", Summary: "bench of evil\x1b[31m\r at \xffx"}})
		p.Heading("model %s", "a\nb\x07")
		p.Text(2, "warning: %s", "a\x1b]0;title\x07 ü")
		p.Line("%s", "kept\n\x1b[2J")
	})
	at := store.Run{}.At.Local().Format("2006-01-02 15:04")
	want := `run  kind   at                name  model                   by  what
  1  bench  ` + at + `        evil\x1b[31mred\n\nrow      bench of evil\x1b[31m\r at ?x
model a\nb\a
warning: a\x1b]0;title\a ü
kept
\x1b[2J
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
