package emulate

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/openai"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// truth is what the server's own stamps say of the requests that were answered, in
// milliseconds. Stamps are those of the same events as the client's: a request that
// came, and chunks that were handed to the system; a machine that is loaded shows
// in both.
func truth(records []*Record) map[string]bench.Dist {
	of := map[string][]float64{}
	for _, r := range records {
		if r.Outcome != Done {
			continue
		}
		of["ttft"] = append(of["ttft"], (r.FirstChunk-r.Received)*1e3)
		of["e2e"] = append(of["e2e"], (r.LastChunk-r.Received)*1e3)
		of["tpot"] = append(of["tpot"], (r.LastChunk-r.FirstChunk)*1e3/float64(r.Sent-1))
		for i := 1; i < len(r.ChunkSeconds); i++ {
			of["icl"] = append(of["icl"], (r.ChunkSeconds[i]-r.ChunkSeconds[i-1])*1e3)
		}
	}
	dists := map[string]bench.Dist{}
	for name, list := range of {
		dists[name] = bench.NewDist(list)
	}
	return dists
}

// What bench measures is what the server says that it did: medians within 2 % or
// 1 ms, whichever is larger, counts and tokens exactly. Where they differ the run is
// made again; where the client called itself the bottleneck every time, it measured
// the machine, not the service, and the test is skipped with its reasons.
func TestBenchMeasuresWhatWasDone(t *testing.T) {
	for name, x := range map[string]struct {
		config Config
		level  bench.Level
		chat   bool
	}{
		"closed loop": {Config{Service: service(8e-3)}, bench.Level{Mode: bench.Closed, Concurrency: 8}, true},
		"chunks":      {Config{Service: service(6e-3), Interval: 5}, bench.Level{Mode: bench.Closed, Concurrency: 4}, false},
		"open loop":   {Config{Service: service(5e-3)}, bench.Level{Mode: bench.Open, Arrival: workload.Arrival{Process: workload.Poisson, Rate: 40, Variation: 1}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			const tries = 3
			for try := 1; ; try++ {
				differ, why := measureOnce(t, x.config, x.level, x.chat)
				switch {
				case len(differ) == 0:
					if len(why) > 0 {
						t.Logf("they agree, though the client doubts itself: %s", strings.Join(why, "; "))
					}
					return
				case try < tries:
					t.Logf("again: they differ in %v; the client's own doubts: %q", differ, why)
				case len(why) > 0:
					t.Skipf("the client was the bottleneck: %s", strings.Join(why, "; "))
				default:
					t.Fatalf("they differ in %v", differ)
				}
			}
		})
	}
}

// measureOnce tells where client and server differ, and why the client doubts
// itself.
func measureOnce(t *testing.T, c Config, l bench.Level, chat bool) (differ, invalid []string) {
	const requests, in, out = 60, 64, 24
	s := start(t, c)
	endpoint := openai.Completions
	if chat {
		endpoint = openai.Chat
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	d, err := bench.Run(ctx, bench.Config{Service: openai.Config{URL: s.url + "/v1", Model: "tiny", Endpoint: endpoint}, Levels: []bench.Level{l},
		Input: workload.Length{Low: in, High: in}, Output: workload.Length{Low: out, High: out}, Requests: requests, Stream: true, IgnoreEOS: true, NoCheck: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	records := s.all()
	st := &d.Stages[0]
	if st.Requests.OK != requests || len(records) != requests {
		t.Fatalf("%d of %d requests answered, the server has %d: %+v", st.Requests.OK, requests, len(records), st.Requests)
	}
	for _, r := range records {
		if r.Outcome != Done || r.Sent != out {
			t.Fatalf("record %+v", r)
		}
	}
	if st.Output.Min != out || st.Output.Max != out || st.ICL.N != truth(records)["icl"].N {
		t.Fatalf("tokens %+v, %d gaps between chunks of %d", st.Output, st.ICL.N, truth(records)["icl"].N)
	}
	m := map[string]bench.Dist{"ttft": st.TTFT, "e2e": st.E2E, "tpot": st.TPOT, "icl": st.ICL}
	if st.Basis != bench.Service {
		m["ttft"], m["e2e"] = st.Other.TTFT, st.Other.E2E
	}
	for metric, want := range truth(records) {
		got := m[metric]
		t.Logf("%s p50: client %.3f ms, server %.3f ms (p99 %.3f, %.3f)", metric, got.P50, want.P50, got.P99, want.P99)
		if math.Abs(got.P50-want.P50) > max(0.02*want.P50, 1) {
			differ = append(differ, metric)
		}
	}
	return differ, st.Client.Reasons
}
