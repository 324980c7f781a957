package report

import (
	"strconv"
	"time"

	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/store"
)

// RunsDoc is kept runs without their documents.
type RunsDoc struct {
	Runs []RunDoc `json:"runs"`
}

// RunDoc is one kept run.
type RunDoc struct {
	ID      int64  `json:"id"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	At      string `json:"at"` // RFC 3339, UTC
	Model   string `json:"model"`
	Target  string `json:"target"`
	Source  string `json:"source"`
	Summary string `json:"summary"`
}

func runDoc(r *store.Run) RunDoc {
	return RunDoc{r.ID, string(r.Kind), r.Name, r.At.UTC().Format(time.RFC3339), r.Model, r.Target, r.Source, r.Summary}
}

// NewRunsDoc lists runs for programs.
func NewRunsDoc(list []*store.Run) *RunsDoc {
	d := &RunsDoc{Runs: []RunDoc{}}
	for _, r := range list {
		d.Runs = append(d.Runs, runDoc(r))
	}
	return d
}

// Runs lists runs for people.
func Runs(p *Page, list []*store.Run) {
	if len(list) == 0 {
		p.Line("no such run is kept")
		return
	}
	var rows [][]string
	for _, r := range list {
		rows = append(rows, []string{strconv.FormatInt(r.ID, 10), string(r.Kind), r.At.Local().Format("2006-01-02 15:04"), r.Name, r.Model, r.Source, r.Summary})
	}
	p.Table([]Column{Right("run"), Left("kind"), Left("at"), Left("name"), Left("model"), Left("by"), Left("what")}, rows)
}

// Run shows one run, of a measurement with its report.
func Run(p *Page, r *store.Run, d *bench.Report) {
	p.Heading("run %d: %s", r.ID, r.Kind)
	facts := [][2]string{{"at", r.At.UTC().Format(time.RFC3339)}, {"by", r.Source}, {"what", r.Summary}}
	for _, x := range [][2]string{{"name", r.Name}, {"model", r.Model}, {"target", r.Target}} {
		if x[1] != "" {
			facts = append(facts, x)
		}
	}
	p.Facts(facts...)
	if d == nil {
		p.Text(0, "The whole document: `ridgeline runs show %d --json`.", r.ID)
		return
	}
	p.Line("")
	Bench(p, d)
}
