package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Runs is a folder of measured runs, kept as the documents that commands print with
// --json, one file each. A nil folder keeps none.
type Runs struct{ root *os.Root }

// OpenRuns opens the folder in which runs are kept; it must exist.
func OpenRuns(dir string) (*Runs, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		var cause *fs.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return nil, fmt.Errorf("%s: %w: give a folder", dir, err)
	}
	return &Runs{root}, nil
}

// Run is what a list says of a run.
type Run struct {
	ID      string `json:"id"`
	Kind    string `json:"kind" enum:"bench,probe,validate"`
	Title   string `json:"title" doc:"what was measured, in a few words"`
	Started string `json:"started,omitempty" doc:"RFC 3339"`
}

// KeptRun is a run with its document.
type KeptRun struct {
	Run
	Document map[string]any `json:"document" doc:"the document of the command's --json"`
}

const (
	maxRuns     = 1000     // listed
	maxRunBytes = 16 << 20 // of one document: a sweep of 20 stages takes 200 kB
)

// list reads the heads of all runs, the latest first. Files that are no runs are
// passed over.
func (f *Runs) list() ([]Run, error) {
	runs := []Run{}
	if f == nil {
		return runs, nil
	}
	names, err := f.names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if r, err := f.read(name); err == nil {
			runs = append(runs, r.Run)
		}
	}
	slices.SortFunc(runs, func(a, b Run) int {
		return strings.Compare(b.Started+"\x00"+b.ID, a.Started+"\x00"+a.ID)
	})
	return runs, nil
}

// names are the files that may be runs.
func (f *Runs) names() (names []string, _ error) {
	dir, err := f.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Type().IsRegular() && filepath.Ext(e.Name()) == ".json" && len(names) < maxRuns {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// get reads one run. The id is compared with what the folder holds: it never
// becomes a path.
func (f *Runs) get(id string) (*KeptRun, error) {
	if f != nil {
		names, err := f.names()
		if err != nil {
			return nil, err
		}
		if slices.Contains(names, id+".json") {
			return f.read(id + ".json")
		}
	}
	return nil, problem(http.StatusNotFound, fmt.Sprintf("no run is called %q: /api/v1/runs lists them", id))
}

func (f *Runs) read(name string) (*KeptRun, error) {
	file, err := f.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxRunBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxRunBytes {
		return nil, fmt.Errorf("%s has more than %d MiB", name, maxRunBytes>>20)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	r := &KeptRun{Run{ID: strings.TrimSuffix(name, ".json")}, doc}
	return r, r.head()
}

// head tells from the fields of a document what it is.
func (r *KeptRun) head() error {
	d := r.Document
	text := func(key string) string { s, _ := d[key].(string); return s }
	switch {
	case d["stages"] != nil && d["url"] != nil:
		r.Kind, r.Title, r.Started = "bench", strings.TrimSpace(text("model")+" "+text("load")), text("started")
	case d["record"] != nil && d["results"] != nil:
		r.Kind, r.Title, r.Started = "probe", text("source"), text("when")
		if m, ok := d["machine"].(map[string]any); ok && m["host"] != nil {
			r.Title = fmt.Sprint(m["host"])
		}
	case d["metrics"] != nil && d["scored"] != nil:
		r.Kind, r.Title = "validate", fmt.Sprintf("%v of %v rows scored", d["scored"], d["rows"])
	default:
		return errors.New("no run")
	}
	return nil
}

// keep writes a document and gives it a name of its own.
func (f *Runs) keep(kind string, doc any) (id string, _ error) {
	if f == nil {
		return "", nil
	}
	data, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return "", err
	}
	base := kind + "-" + time.Now().UTC().Format("20060102-150405")
	for n := 1; ; n++ {
		if id = base; n > 1 {
			id = fmt.Sprintf("%s-%d", base, n)
		}
		file, err := f.root.OpenFile(id+".json", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = file.Write(append(data, '\n'))
		return id, errors.Join(err, file.Close())
	}
}

// Comparison is two runs beside each other: every number that both state.
type Comparison struct {
	A           Run          `json:"a"`
	B           Run          `json:"b"`
	Differences []Difference `json:"differences"`
}

// Difference is one number of two runs.
type Difference struct {
	Path  string   `json:"path" doc:"where the documents state it, such as stages[0].ttft_ms.p50"`
	A     float64  `json:"a"`
	B     float64  `json:"b"`
	Ratio *float64 `json:"ratio" doc:"b over a, null where a is 0"`
}

func compare(a, b *KeptRun) (*Comparison, error) {
	if a.Kind != b.Kind {
		return nil, problem(http.StatusUnprocessableEntity, fmt.Sprintf("%s is a %s and %s a %s: compare runs of one kind", a.ID, a.Kind, b.ID, b.Kind))
	}
	c := &Comparison{A: a.Run, B: b.Run, Differences: []Difference{}}
	c.walk("", a.Document, b.Document)
	return c, nil
}

// walk goes down both documents; lists are compared entry by entry.
func (c *Comparison) walk(at string, a, b any) {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			return
		}
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			c.walk(strings.TrimPrefix(at+"."+k, "."), x[k], y[k])
		}
	case []any:
		y, ok := b.([]any)
		if !ok {
			return
		}
		for i := range min(len(x), len(y)) {
			c.walk(fmt.Sprintf("%s[%d]", at, i), x[i], y[i])
		}
	case float64:
		y, ok := b.(float64)
		if !ok {
			return
		}
		d := Difference{Path: at, A: x, B: y}
		if r := y / x; x != 0 && !math.IsInf(r, 0) {
			d.Ratio = &r
		}
		c.Differences = append(c.Differences, d)
	}
}

type (
	runList struct {
		Runs     []Run    `json:"runs"`
		Services []string `json:"services" doc:"URLs of the services that may be evaluated here"`
	}
	runInput struct {
		ID string `path:"id" doc:"as /api/v1/runs lists it"`
	}
	compareInput struct {
		A string `query:"a" required:"true" doc:"id of a run"`
		B string `query:"b" required:"true" doc:"id of another one"`
	}
)

func (s *Server) runRoutes() {
	huma.Register(s.api, operation("runs", "/api/v1/runs", tagMeasured, "Measured runs that are kept, the latest first"), func(context.Context, *struct{}) (*output[runList], error) {
		list, err := s.runs.list()
		return &output[runList]{runList{list, append([]string{}, s.options.Services.URLs...)}}, err
	})
	huma.Register(s.api, operation("run", "/api/v1/runs/{id}", tagMeasured, "One run with its document"), func(_ context.Context, in *runInput) (*output[*KeptRun], error) {
		r, err := s.runs.get(in.ID)
		return &output[*KeptRun]{r}, err
	})
	huma.Register(s.api, operation("compare", "/api/v1/runs/compare", tagMeasured, "Two runs beside each other"), func(_ context.Context, in *compareInput) (*output[*Comparison], error) {
		a, err := s.runs.get(in.A)
		if err != nil {
			return nil, err
		}
		b, err := s.runs.get(in.B)
		if err != nil {
			return nil, err
		}
		c, err := compare(a, b)
		return &output[*Comparison]{c}, err
	})
}
