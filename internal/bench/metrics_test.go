package bench

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ridgeline/ridgeline/internal/openai"
)

const ms = time.Millisecond

// chunksAt are chunks of unknown token counts at the times.
func chunksAt(times ...time.Duration) (list []openai.Chunk) {
	for _, t := range times {
		list = append(list, openai.Chunk{At: t})
	}
	return list
}

var closedOrigin = &Origin{Run: "r", Mode: Closed, Level: 1, Started: 1}

// answered is a record of an answer that was scheduled at 10, sent at 30 and
// whose chunks came at the times.
func answered(tokens int, times ...time.Duration) *Record {
	r := &Record{ID: "1", Origin: closedOrigin, Outcome: OK, Stream: true, Scheduled: 10 * ms, Dispatched: 20 * ms, Sent: 30 * ms, Headers: 40 * ms,
		Chunks: chunksAt(times...), Answer: 0, Input: 8, Output: tokens}
	r.End = r.Chunks[len(times)-1].At + 5*ms
	r.Usage = openai.Usage{Known: true, Prompt: 8, Completion: tokens}
	return r
}

// numpy.percentile([3, 1, 4, 1, 5, 9, 2, 6], [50, 90, 95, 99]) of numpy 1.26.
func TestPercentilesAreNumpys(t *testing.T) {
	d := NewDist([]float64{3, 1, 4, 1, 5, 9, 2, 6})
	for i, x := range [][2]float64{{d.P50, 3.5}, {d.P90, 6.9}, {d.P95, 7.95}, {d.P99, 8.79}, {d.Min, 1}, {d.Max, 9}, {d.Mean, 3.875}} {
		if math.Abs(x[0]-x[1]) > 1e-12 {
			t.Errorf("%d: %v, want %v", i, x[0], x[1])
		}
	}
}

func TestNoSampleIsNull(t *testing.T) {
	b, err := json.Marshal(NewDist([]float64{math.NaN(), math.Inf(1)}))
	if err != nil || !strings.Contains(string(b), `"n":0,"mean":null,"p50":null`) {
		t.Errorf("%s, %v", b, err)
	}
}

// What another tool did not state is null, and stays unknown when it is read back.
func TestUnstatedIsNull(t *testing.T) {
	d := Dist{N: 3, Mean: 2, P50: 1, P90: math.NaN(), P95: math.NaN(), P99: math.NaN(), Min: math.NaN(), Max: math.NaN(), Std: math.NaN()}
	b, err := json.Marshal(d)
	if err != nil || string(b) != `{"n":3,"mean":2,"p50":1,"p90":null,"p95":null,"p99":null,"min":null,"max":null,"std":null}` {
		t.Errorf("%s, %v", b, err)
	}
	var again Dist
	if err := json.Unmarshal(b, &again); err != nil || again.N != 3 || again.P50 != 1 {
		t.Errorf("%+v, %v", again, err)
	}
	if _, ok := again.At("p90"); ok {
		t.Error("p90 is known")
	}
	if _, ok := again.At("mean"); !ok {
		t.Error("the mean is not")
	}
}

func TestMetricsOfOneRequest(t *testing.T) {
	r := answered(11, 130*ms, 180*ms, 330*ms)
	for name, x := range map[string]struct {
		of   func() (time.Duration, bool)
		want time.Duration
	}{
		"TTFB":          {r.TTFB, 10 * ms},
		"TTFT service":  {func() (time.Duration, bool) { return r.TTFT(Service) }, 100 * ms},
		"TTFT response": {func() (time.Duration, bool) { return r.TTFT(Response) }, 120 * ms},
		"E2E service":   {func() (time.Duration, bool) { return r.E2E(Service) }, 300 * ms},
		"TPOT":          {r.TPOT, 20 * ms}, // (330 - 130) / 10
		"queue":         {r.Queue, 20 * ms},
		"slip":          {r.Slip, 10 * ms},
		"longest gap":   {r.MaxGap, 150 * ms},
	} {
		if got, ok := x.of(); !ok || got != x.want {
			t.Errorf("%s: %v %v, want %v", name, got, ok, x.want)
		}
	}
	if list, ok := r.InterToken(); ok {
		t.Errorf("tokens per chunk are not known, yet ITL is %v", list)
	}
	r.Chunks = []openai.Chunk{{At: 130 * ms, Tokens: 1}, {At: 180 * ms, Tokens: 5}, {At: 330 * ms, Tokens: 5}}
	want := append(slices.Repeat([]time.Duration{10 * ms}, 5), slices.Repeat([]time.Duration{30 * ms}, 5)...)
	if list, ok := r.InterToken(); !ok || !slices.Equal(list, want) {
		t.Errorf("ITL %v, want %v", list, want)
	}
}

// E2E - TTFT is the sum of the gaps, from either start, and there is one gap
// fewer than chunks, whatever the stamps.
func TestGapsSumToTheRest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		at, times := 50*ms, []time.Duration{}
		for range 1 + rng.IntN(20) {
			at += time.Duration(rng.IntN(1e6)) + 1
			times = append(times, at)
		}
		r := answered(len(times)*3, times...)
		sum := time.Duration(0)
		for _, g := range r.Gaps() {
			sum += g
		}
		for _, b := range []Basis{Service, Response} {
			first, _ := r.TTFT(b)
			all, _ := r.E2E(b)
			if all-first != sum || len(r.Gaps()) != len(r.Chunks)-1 {
				t.Fatalf("E2E %v - TTFT %v is not the sum of %d gaps %v", all, first, len(r.Gaps()), sum)
			}
		}
	}
}

func TestRecordsComeBack(t *testing.T) {
	r := answered(3, 130*ms, 180*ms, 330*ms)
	r.Chunks[1].Tokens, r.Connection, r.RetryAfter = 2, openai.Connection{DNS: 3 * ms, Connect: 4 * ms}, time.Second
	bad := &Record{ID: "2", Origin: closedOrigin, Outcome: Failed, Class: openai.Connect, Reason: "refused", Scheduled: 5 * ms, Dispatched: 6 * ms, End: 7 * ms, Answer: -1}
	bad.Connection.Reused = true // nothing was connected
	var b bytes.Buffer
	w := NewRecordWriter(&b)
	for _, x := range []*Record{r, bad} {
		if err := w.Write(x); err != nil {
			t.Fatal(err)
		}
	}
	x, err := ReadRecords(strings.NewReader(b.String()+`{"id": "half`), "x")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(&Recorded{"x", []*Record{r, bad}, true}, x); d != "" {
		t.Error(d)
	}
}

func FuzzReadRecords(f *testing.F) {
	var b bytes.Buffer
	if err := NewRecordWriter(&b).Write(answered(3, 130*ms, 180*ms)); err != nil {
		f.Fatal(err)
	}
	f.Add(b.String())
	f.Fuzz(func(t *testing.T, text string) {
		x, err := ReadRecords(strings.NewReader(text), "x")
		if err != nil {
			return
		}
		s := NewStage(x.Records, &SLO{TTFT: 1, At: "p90"})
		if q := s.Requests; q.Sent != q.OK+q.Failed+q.Truncated+q.Cancelled {
			t.Errorf("%+v", q)
		}
		if _, err := json.Marshal(s); err != nil {
			t.Error(err)
		}
	})
}

// The window of a ramp of ten requests, all together for 100 ms, and one straggler.
func TestSteadyWindow(t *testing.T) {
	var list []*Record
	for i := range 10 {
		r := &Record{ID: "x", Origin: closedOrigin, Outcome: OK, Dispatched: time.Duration(i+1) * 10 * ms, End: 200*ms + time.Duration(i)*ms}
		list = append(list, r)
	}
	list[9].End = time.Second
	w, ok := Steady(list)
	if want := (Span{90 * ms, 201 * ms}); !ok || w != want { // nine tenths of ten
		t.Errorf("%v, want %v", w, want)
	}
}
