package bench

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// scrape is one reading of a service's metrics: sums over all label values.
type scrape map[string]float64

// The bounds of a reading: metrics of large services have a megabyte.
const (
	scrapeLimit   = 16 << 20
	scrapeTimeout = 2 * time.Second
	scrapeEvery   = time.Second
)

// metricsURL is where the service publishes: beside /v1.
func (r *run) metricsURL() string {
	switch {
	case r.c.Metrics == "-":
		return ""
	case r.c.Metrics != "":
		return r.c.Metrics
	}
	u := r.c.Service.URL
	return strings.TrimSuffix(strings.TrimRight(u, "/"), "/v1") + "/metrics"
}

// scraper fetches metrics; it carries no key, and follows no redirect.
var scraper = &http.Client{Timeout: scrapeTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// scrape reads the service's metrics; nil where it publishes none.
func (r *run) scrape(ctx context.Context) scrape {
	u := r.metricsURL()
	if u == "" {
		return nil
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return nil
	}
	p, err := scraper.Do(q)
	if err != nil {
		return nil
	}
	defer p.Body.Close()
	if p.StatusCode != http.StatusOK {
		return nil
	}
	return readMetrics(io.LimitReader(p.Body, scrapeLimit))
}

// readMetrics sums every counter, gauge, and sum and count of histograms; nil for
// what is no text of Prometheus.
func readMetrics(from io.Reader) scrape {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(from)
	if err != nil {
		return nil
	}
	s := scrape{}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			switch f.GetType() {
			case dto.MetricType_COUNTER:
				s[name] += m.GetCounter().GetValue()
			case dto.MetricType_GAUGE:
				s[name] += m.GetGauge().GetValue()
			case dto.MetricType_HISTOGRAM:
				s[name+"_sum"] += m.GetHistogram().GetSampleSum()
				s[name+"_count"] += float64(m.GetHistogram().GetSampleCount())
			case dto.MetricType_UNTYPED:
				s[name] += m.GetUntyped().GetValue()
			}
		}
	}
	return s
}

// engineNames is how an engine calls what is read; several names are tried in turn.
type engineNames struct {
	engine                   string
	running, waiting, cache  []string
	hits, queries            []string
	accepted, drafted        []string
	preemptions, ttft, queue string
}

// Names as published by vLLM 0.11 (vllm/v1/metrics/loggers.py) and SGLang 0.5
// (sglang/srt/metrics/collector.py); gauges over data-parallel ranks are summed.
var engines = []engineNames{
	{"vllm", []string{"vllm:num_requests_running"}, []string{"vllm:num_requests_waiting"}, []string{"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"},
		[]string{"vllm:prefix_cache_hits_total", "vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits_total"},
		[]string{"vllm:prefix_cache_queries_total", "vllm:prefix_cache_queries", "vllm:gpu_prefix_cache_queries_total"},
		[]string{"vllm:spec_decode_num_accepted_tokens_total"}, []string{"vllm:spec_decode_num_draft_tokens_total"},
		"vllm:num_preemptions_total", "vllm:time_to_first_token_seconds", "vllm:request_queue_time_seconds"},
	{"sglang", []string{"sglang:num_running_reqs"}, []string{"sglang:num_queue_reqs"}, []string{"sglang:token_usage"},
		[]string{"sglang:cached_tokens_total"}, []string{"sglang:prompt_tokens_total"},
		nil, nil, "", "sglang:time_to_first_token_seconds", "sglang:queue_time_seconds"},
}

func (s scrape) of(names []string) (float64, bool) {
	for _, n := range names {
		if v, ok := s[n]; ok {
			return v, true
		}
	}
	return 0, false
}

// sampler reads the gauges while a stage runs.
type sampler struct {
	quit                    chan struct{}
	done                    sync.WaitGroup
	engine                  *engineNames
	running, waiting, cache []float64
}

func (r *run) sample() *sampler {
	w := &sampler{quit: make(chan struct{})}
	if r.metricsURL() == "" {
		return w
	}
	w.done.Go(func() {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		go func() { <-w.quit; stop() }()
		t := time.NewTicker(scrapeEvery)
		defer t.Stop()
		for misses := 0; misses < 3; { // a service that publishes nothing is left alone
			if s := r.scrape(ctx); s == nil || !w.take(s) {
				misses++
			}
			select {
			case <-w.quit:
				return
			case <-t.C:
			}
		}
	})
	return w
}

// take keeps one reading, of numbers of requests and of shares what can be one; false where no engine is
// recognised.
func (w *sampler) take(s scrape) bool {
	for i := range engines {
		e := &engines[i]
		v, ok := s.of(e.running)
		if !ok {
			continue
		}
		w.engine = e
		keep := func(v float64, ok bool, list *[]float64) {
			if ok && v >= 0 {
				*list = append(*list, v)
			}
		}
		keep(v, true, &w.running)
		v, ok = s.of(e.waiting)
		keep(v, ok, &w.waiting)
		v, ok = s.of(e.cache)
		keep(v, ok && v <= 1, &w.cache)
		return true
	}
	return false
}

// finish ends the sampling; nil where nothing was published.
func (w *sampler) finish() *ServerMetrics {
	close(w.quit)
	w.done.Wait()
	if w.engine == nil {
		return nil
	}
	return &ServerMetrics{Names: w.engine.engine, Running: NewDist(w.running), Waiting: NewDist(w.waiting), Cache: NewDist(w.cache)}
}

// between fills in what counters did from one reading to another.
func (m *ServerMetrics) between(before, after scrape) {
	if before == nil || after == nil {
		return
	}
	var e *engineNames
	for i := range engines {
		if engines[i].engine == m.Names {
			e = &engines[i]
		}
	}
	grown := func(names ...string) (float64, bool) {
		a, ok := after.of(names)
		b, _ := before.of(names) // a counter that is new began at 0
		return a - b, ok && a >= b
	}
	share := func(part, whole []string, into **float64) {
		a, okA := grown(part...)
		b, okB := grown(whole...)
		if v := a / b; okA && okB && b > 0 && v <= 1 { // no part is more than the whole
			*into = &v
		}
	}
	mean := func(name string, into **float64) {
		sum, ok := grown(name + "_sum")
		n, _ := grown(name + "_count")
		if v := sum / n * 1e3; ok && n > 0 {
			*into = &v
		}
	}
	share(e.hits, e.queries, &m.PrefixHits)
	share(e.accepted, e.drafted, &m.Acceptance)
	mean(e.ttft, &m.TTFT)
	mean(e.queue, &m.Queue)
	if v, ok := grown(e.preemptions); ok && e.preemptions != "" {
		m.Preemptions = &v
	}
}
