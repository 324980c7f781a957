package ask

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// load is what is put on the service.
func (f *Bench) load(c *bench.Config, find Finder) error {
	given := f.Flags.Changed
	kinds := 0
	for _, flag := range []string{"concurrency", "rate", "search"} {
		if given(flag) {
			kinds++
		}
	}
	switch {
	case kinds > 1 || kinds == 0 && !given("trace"):
		return errors.New("bench needs one load: --concurrency LIST, --rate LIST, --trace FILE or --search KIND=LOW..HIGH")
	case given("arrival") && !given("rate") && !strings.HasPrefix(f.search, "rate"):
		return errors.New("--arrival needs --rate: a trace and a closed loop say when requests come")
	case given("max-concurrency") && given("concurrency"):
		return errors.New("--max-concurrency caps a rate or trace: --concurrency already says how many are in flight")
	case given("grace") && !given("duration"):
		return errors.New("--grace needs --duration: a stage of so many requests waits for them")
	case given("trace") && (given("isl") || given("osl")):
		return errors.New("--isl and --osl: the trace has its own lengths, leave them out")
	}
	if given("trace") {
		w, err := find.Trace(f.trace)
		if err != nil {
			return fmt.Errorf("--trace: %w", err)
		}
		if c.Trace = w; kinds == 0 {
			c.Levels = []bench.Level{{Mode: bench.Traced}}
		}
	}
	if !given("arrival") {
		f.arrival = workload.Arrival{Process: workload.Poisson, Variation: 1}
	}
	for _, n := range f.concurrency {
		c.Levels = append(c.Levels, bench.Level{Mode: bench.Closed, Concurrency: n})
	}
	for _, r := range f.rates {
		a := f.arrival
		a.Rate = r
		c.Levels = append(c.Levels, bench.Level{Mode: bench.Open, Arrival: a})
	}
	return f.find(c)
}

// find is the search for the highest load.
func (f *Bench) find(c *bench.Config) error {
	if f.search == "" {
		return nil
	}
	kind, bounds, _ := strings.Cut(f.search, "=")
	low, high, ok := strings.Cut(bounds, "..")
	ok = ok && (kind == "rate" || kind == "concurrency")
	s := &bench.Search{Mode: bench.Open, Level: bench.Level{Arrival: f.arrival}}
	read := parseRate
	if kind == "concurrency" {
		s.Mode, s.Level = bench.Closed, bench.Level{}
		read = func(text string) (float64, error) { n, err := unit.ParseCount(text); return float64(n), err }
	}
	for _, end := range []struct {
		text string
		to   *float64
	}{{low, &s.Low}, {high, &s.High}} {
		v, err := read(end.text)
		if ok && err != nil {
			return fmt.Errorf("--search %s: %w", kind, err)
		}
		*end.to = v
	}
	if !ok || s.Check() != nil {
		return fmt.Errorf("--search %q: give rate=LOW..HIGH or concurrency=LOW..HIGH, such as rate=1..64", f.search)
	}
	if c.SLO == nil {
		return errors.New("--search needs --slo: say what must hold")
	}
	c.Search = s
	return nil
}

// Searching tells whether the load is looked for: stages that miss the SLO are
// then part of the answer.
func (f *Bench) Searching() bool { return f.search != "" }
