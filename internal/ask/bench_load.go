package ask

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/bench"
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
	a, errA := strconv.ParseFloat(low, 64)
	b, errB := strconv.ParseFloat(high, 64)
	s := &bench.Search{Mode: bench.Open, Low: a, High: b, Level: bench.Level{Arrival: f.arrival}}
	if kind == "concurrency" {
		s.Mode, s.Level = bench.Closed, bench.Level{}
	}
	if !ok || errA != nil || errB != nil || kind != "rate" && kind != "concurrency" || s.Check() != nil {
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
