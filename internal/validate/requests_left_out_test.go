package validate

import (
	"encoding/json"
	"math"
	"os"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/workload"
)

// readReplayed reads a published run; the test is skipped where it is absent.
func readReplayed(t *testing.T, name string) *replayed {
	t.Helper()
	path := sharedFolder + "measured/requests/" + name + ".jsonl"
	f, err := os.Open(path)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	r := &replayed{configs: sharedFolder + "hf-configs"}
	if r.measured, err = ReadStamps(f, path); err != nil {
		t.Fatal(err)
	}
	g, err := os.Open(RequestsConfigPath(path))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if r.config, err = ReadRequestsConfig(g, path); err != nil {
		t.Fatal(err)
	}
	if r.load, err = workload.Open(path); err != nil {
		t.Fatal(err)
	}
	return r
}

// Each half of the replayed runs with constants that were fitted to the other: the targets of
// docs/accuracy.md hold, and what is stored is what comes out (-update stores it). The two
// cards' own constants are the 4090's whole run's.
func TestRequestsLeaveOut(t *testing.T) {
	if testing.Short() {
		t.Skip("ten seconds of replays")
	}
	const mostTPOT, mostTTFT, mostP99, near = 0.03, 0.12, 0.15, 0.002
	one, two := readReplayed(t, publishedRequests[0]), readReplayed(t, publishedRequests[1])
	card, err := one.fit(t.Context(), unseenCard, cardKnobs, 0, len(one.measured))
	if err != nil {
		t.Fatal(err)
	}
	var out []LeftOutRequests
	for i, run := range []struct {
		r    *replayed
		from cardConstants
		list []cardKnob
	}{{one, unseenCard, cardKnobs}, {two, card, stagedKnobs}} {
		parts, err := run.r.leaveHalves(t.Context(), run.from, run.list)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range parts {
			t.Logf("%s %+v", publishedRequests[i], p)
		}
		if p := parts[2]; p.TPOT > mostTPOT || p.TTFT > mostTTFT || p.Late > mostP99 {
			t.Errorf("%s: %+v misses a target", publishedRequests[i], p)
		}
		out = append(out, LeftOutRequests{publishedRequests[i], time.Now().Format("2 January 2006"), parts})
	}
	if *update {
		data, err := json.MarshalIndent(out, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("requests_left_out.json", append(data, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for i, s := range StoredLeftOutRequests() {
		for k, p := range s.Parts {
			q := out[i].Parts[k]
			if far := max(math.Abs(p.TPOT-q.TPOT), math.Abs(p.TTFT-q.TTFT), math.Abs(p.Late-q.Late)); far > near {
				t.Errorf("%s, %s: stored %+v, now %+v: run this test with -update", s.Run, p.Part, p, q)
			}
		}
	}
}

// A half is predicted without a look at itself: requests that take twice as long in one half
// change the constants for the other half alone.
func TestHalvesAreLeftOut(t *testing.T) {
	r := readReplayed(t, publishedRequests[0])
	list := cardKnobs[:1]
	before, err := r.leaveHalves(t.Context(), unseenCard, list)
	if err != nil {
		t.Fatal(err)
	}
	n := len(r.measured)
	for i := range r.measured[:n/2] {
		m := &r.measured[i]
		m.E2E += m.E2E - m.TTFT
	}
	fit := func(from, to int) float64 {
		c, err := r.fit(t.Context(), unseenCard, list, from, to)
		if err != nil {
			t.Fatal(err)
		}
		return c.HBM
	}
	if first, second := fit(0, n/2), fit(n/2, n); !(first < second) {
		t.Errorf("memory streams at %.3f in the slower half and at %.3f in the other", first, second)
	}
	after, err := r.leaveHalves(t.Context(), unseenCard, list)
	if err != nil {
		t.Fatal(err)
	}
	if before[0] == after[0] || before[1] == after[1] {
		t.Errorf("nothing changed: %+v, %+v", before, after)
	}
	if l := leftOutRequests(publishedRequests[0], n); l == nil || leftOutRequests("mine", n) != nil || leftOutRequests(publishedRequests[0], n+1) != nil {
		t.Error("stored errors are those of published runs, whole")
	}
}
