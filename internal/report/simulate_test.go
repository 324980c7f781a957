package report

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// simulated is a small run; tests of the page care for its shape, not its figures.
func simulated(t *testing.T, ctx context.Context, rate float64, n int) *api.SimulateAnswer {
	t.Helper()
	m, err := catalog.Model("llama-3.1-8b")
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Cluster("h100x1")
	if err != nil {
		t.Fatal(err)
	}
	text, err := plan.ParseServing("tp=1")
	if err != nil {
		t.Fatal(err)
	}
	w, err := (&workload.Synthetic{Input: workload.Length{Low: 400, High: 600}, Output: workload.Length{Low: 50, High: 80}, Requests: n,
		Arrival: workload.Arrival{Process: workload.Poisson, Rate: rate, Variation: 1}}).Generate()
	if err != nil {
		t.Fatal(err)
	}
	a, err := api.Simulate(ctx, &api.SimulateRequest{Service: &api.InferRequest{Model: m, Clusters: []*hw.Cluster{c}, Plan: text}, Load: w})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The page keeps to its width, however narrow, and has all its parts.
func TestSimulationFitsThePage(t *testing.T) {
	a := simulated(t, context.Background(), 5, 200)
	for _, width := range []int{80, 100, 160} {
		text := page(t, width, func(p *Page) { Simulate(p, a) })
		for _, line := range strings.Split(text, "\n") {
			if utf8.RuneCountInString(line) > width {
				t.Errorf("%d columns: %q", width, line)
			}
		}
		for _, part := range []string{"Queueing takes over beyond", "p99", "Service", "Time to first token", "waiting"} {
			if !strings.Contains(text, part) {
				t.Errorf("%d columns: no %q", width, part)
			}
		}
	}
}

// Beyond saturation neither page nor document states a tail of a waiting time; the
// time per token keeps its own.
func TestTailsAreRefusedBeyondSaturation(t *testing.T) {
	a := simulated(t, context.Background(), 2000, 2000)
	text := page(t, 100, func(p *Page) { Simulate(p, a) })
	if !strings.Contains(text, "Tails are not stated") || strings.Contains(text, "Time to first token") {
		t.Error(text)
	}
	for _, line := range strings.Split(text, "\n") {
		if fields := strings.Fields(line); len(fields) > 0 && (fields[0] == "ttft" && len(fields) != 5 || fields[0] == "tpot" && len(fields) != 13) {
			t.Errorf("%q", line)
		}
	}
	d := NewSimulateDoc(a)
	if d.Held == nil || d.Whole.TTFT.P99 != nil || d.Whole.E2E.Max != nil || d.Whole.TPOT.P99 == nil {
		t.Errorf("%+v", d.Whole)
	}
	if _, err := json.Marshal(d); err != nil {
		t.Error(err)
	}
}

// An interrupted run is said to be one and has no capacity.
func TestInterruptedSimulation(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a := simulated(t, ctx, 5, 200)
	text := page(t, 100, func(p *Page) { Simulate(p, a) })
	d := NewSimulateDoc(a)
	if !a.Result.Partial || a.Capacity != nil || !strings.Contains(text, "Interrupted after") || !d.Partial || d.Capacity != nil {
		t.Errorf("%s%+v", text, d)
	}
	if _, err := json.Marshal(d); err != nil {
		t.Error(err)
	}
}

func TestSpark(t *testing.T) {
	for _, c := range []struct {
		values []float64
		most   float64
		width  int
		want   string
	}{
		{[]float64{0, 1, 2, 4, 8}, 8, 5, " ▁▂▄█"},
		{[]float64{0, 1e-9}, 8, 2, " ▁"},           // what is there shows
		{[]float64{8, 8, 0, 0}, 8, 2, "█ "},        // means of neighbours
		{[]float64{1, 2, 3}, 2, 100, "▄██"},        // no wider than the values; past the scale is full
		{nil, 1, 10, ""}, {[]float64{1}, 0, 5, ""}, // nothing, and no scale
	} {
		if got := Spark(c.values, c.most, c.width); got != c.want {
			t.Errorf("%v of %g in %d: %q, want %q", c.values, c.most, c.width, got, c.want)
		}
	}
}
