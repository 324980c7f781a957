package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/report"
)

// BenchmarkPrice is what a slider asks at every step: eight plans of DeepSeek-V3 at
// another network rate.
func BenchmarkPrice(b *testing.B) {
	s := New(Options{})
	defer s.Close()
	ask := func(path string, body example) []byte {
		b.Helper()
		text, err := json.Marshal(body)
		if err != nil {
			b.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodPost, "http://localhost"+path, strings.NewReader(string(text)))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, r)
		if w.Code != 200 {
			b.Fatalf("%d %s", w.Code, w.Body)
		}
		return w.Body.Bytes()
	}
	job := example{"model": "deepseek-v3", "cluster": "h800x2048", "global_batch": 15360, "seq": 4096, "precision": "fp8"}
	var doc report.TrainDoc
	if err := json.Unmarshal(ask("/api/v1/train", job.with(example{"top": 8, "plan": "zero=1,vpp=1"})), &doc); err != nil {
		b.Fatal(err)
	}
	var plans []any
	for _, p := range doc.Plans {
		plans = append(plans, p.Plan)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		ask("/api/v1/train/price", job.with(example{"plans": plans, "turn": example{"network": 0.5 + 0.001*float64(i%500)}}))
	}
}
