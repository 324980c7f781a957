package emulate

import (
	"net/http"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ridgeline/ridgeline/internal/serve"
)

// Buckets of vLLM's histograms (vllm/v1/metrics/loggers.py), seconds.
var (
	firstBuckets = []float64{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	tokenBuckets = []float64{0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	wholeBuckets = []float64{0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
)

// meter counts what the server does, under the names that vLLM's V1 engine uses, so
// that whoever reads an engine's metrics reads these.
type meter struct {
	registry                  *prometheus.Registry
	success                   *prometheus.CounterVec
	first, token, whole, wait prometheus.Histogram

	entry float64 // seconds of a request before the queue

	mu       sync.Mutex
	lags     *hdrhistogram.Histogram // ns from a token's time to its chunk's
	outcomes map[Outcome]int
}

// The histogram of lags: up to an hour, in steps of 0.1 %.
const (
	longestLag = int64(time.Hour)
	lagDigits  = 3
)

func newMeter(e *engine, model string, entry time.Duration) *meter {
	labels := prometheus.Labels{"model_name": model, "engine": "0"}
	m := &meter{registry: prometheus.NewRegistry(), entry: entry.Seconds(), lags: hdrhistogram.New(1, longestLag, lagDigits), outcomes: map[Outcome]int{}}
	for _, g := range []struct {
		name, help string
		of         func(s *serve.State) float64
	}{
		{"num_requests_running", "Requests in the batch.", func(s *serve.State) float64 { return float64(s.Running) }},
		{"num_requests_waiting", "Requests waiting.", func(s *serve.State) float64 { return float64(s.Waiting) }},
		{"kv_cache_usage_perc", "KV blocks held, 1 is all.", func(s *serve.State) float64 { return float64(s.KVUsed) / float64(s.KVBlocks) }},
	} {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "vllm:" + g.name, Help: g.help, ConstLabels: labels},
			func() float64 { s := e.state(); return g.of(&s) }))
	}
	for _, c := range []struct {
		name, help string
		of         func(s *serve.State) int64
	}{
		{"prompt_tokens", "Prompt tokens of requests that ran.", func(s *serve.State) int64 { return s.Queried }},
		{"generation_tokens", "Tokens generated.", func(s *serve.State) int64 { return s.Output }},
		{"prefix_cache_queries", "Prompt tokens looked for in the prefix cache.", func(s *serve.State) int64 { return s.Queried }},
		{"prefix_cache_hits", "Prompt tokens found in the prefix cache.", func(s *serve.State) int64 { return s.Cached }},
		{"num_preemptions", "Requests that lost their KV blocks.", func(s *serve.State) int64 { return s.Preempted }},
		{"spec_decode_num_drafts", "Steps of sequences that drafted.", func(s *serve.State) int64 { return s.Drafts }},
		{"spec_decode_num_draft_tokens", "Tokens drafted.", func(s *serve.State) int64 { return s.Drafted }},
		{"spec_decode_num_accepted_tokens", "Drafted tokens that held.", func(s *serve.State) int64 { return s.Accepted }},
	} {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "vllm:" + c.name + "_total", Help: c.help, ConstLabels: labels},
			func() float64 { s := e.state(); return float64(c.of(&s)) }))
	}
	m.success = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "vllm:request_success_total", Help: "Requests answered.", ConstLabels: labels}, []string{"finished_reason"})
	m.registry.MustRegister(m.success)
	for _, h := range []struct {
		name, help string
		buckets    []float64
		into       *prometheus.Histogram
	}{
		{"time_to_first_token_seconds", "From the request to its first token.", firstBuckets, &m.first},
		{"request_time_per_output_token_seconds", "Mean per token after the first.", tokenBuckets, &m.token},
		{"e2e_request_latency_seconds", "From the request to its last token.", wholeBuckets, &m.whole},
		{"request_queue_time_seconds", "In the queue.", wholeBuckets, &m.wait},
	} {
		*h.into = prometheus.NewHistogram(prometheus.HistogramOpts{Name: "vllm:" + h.name, Help: h.help, Buckets: h.buckets, ConstLabels: labels})
		m.registry.MustRegister(*h.into)
	}
	return m
}

func (m *meter) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// ended observes an answer; times are the engine's, as its own metrics are.
func (m *meter) ended(r *Record, speed float64) {
	if r.Outcome != Done {
		return
	}
	m.success.WithLabelValues(r.Finish).Inc()
	m.first.Observe((r.First - r.Queued) * speed)
	m.whole.Observe((r.Last - r.Queued) * speed)
	m.wait.Observe(max((r.Started-r.Queued)*speed-m.entry, 0))
	if r.Generated > 1 {
		m.token.Observe((r.Last - r.First) / float64(r.Generated-1) * speed)
	}
}

// lag notes how late a chunk was.
func (m *meter) lag(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_ = m.lags.RecordValue(min(max(int64(d), 0), longestLag)) // within the histogram's bounds
}

func (m *meter) count(o Outcome) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.outcomes[o]++
}

// Summary is what a server has done.
type Summary struct {
	Outcomes map[Outcome]int
	Chunks   int64
	// LagP50 and LagP99 are from a token's time in the simulation to its chunk's
	// being written: what the machine adds to the emulated engine.
	LagP50, LagP99 time.Duration
	Engine         serve.State
}

// Summary sums the server's work up.
func (s *Server) Summary() Summary {
	m := s.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	x := Summary{Outcomes: map[Outcome]int{}, Chunks: m.lags.TotalCount(), Engine: s.engine.state()}
	for o, n := range m.outcomes {
		x.Outcomes[o] = n
	}
	if x.Chunks > 0 {
		x.LagP50, x.LagP99 = time.Duration(m.lags.ValueAtQuantile(50)), time.Duration(m.lags.ValueAtQuantile(99))
	}
	return x
}
