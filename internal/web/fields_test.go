package web

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// What is wrong with a field is told with the field, whether the text, the layout or the model is at fault.
func TestProblemsNameTheirField(t *testing.T) {
	h := serve(t, Options{})
	serving := example{"model": "llama-3.1-8b", "cluster": "h100x8", "isl": 1000, "osl": 200}
	for _, c := range []struct {
		path   string
		of     example
		field  string
		value  any
		detail string
	}{
		{"train", trainExample, "plan", "tp=x", "not a whole number"},
		{"train", trainExample, "plan", "foo=1", "unknown"},
		{"train", trainExample, "plan", "tp=3", "product is"},
		{"train", trainExample, "plan", "ep=8", "mixture-of-experts"},
		{"train", trainExample, "plan", "zero=2,pp=2", "zero=2 does not go"},
		{"train", trainExample, "plan", "recompute=moe", "has no experts"},
		{"train", trainExample, "plan", "rank=4", "needs tuning"},
		{"train", trainExample, "precision", "fp9", "unknown"},
		{"train", trainExample, "precision", "bf16,moment=foo", "format"},
		{"train", trainExample, "mtp", "9", "give at most that"},
		{"train", trainExample, "exhaustive", "true", "without quotes"},
		{"train", trainExample, "alone", 1, "without quotes"},
		{"train", trainExample, "global_batch", "64.000", "point where some languages"},
		{"train", trainExample, "global_batch", 64.5, "whole number"},
		{"train/whynot", trainExample.with(example{"against": "fsdp"}), "plan", "tp=3", "product is"},
		{"train/price", trainExample, "plans", "tp=x", "is no list"},
		{"infer", serving, "plan", "tp=x", "not a whole number"},
		{"infer", serving, "plan", "foo=1", "unknown plan key"},
		{"infer", serving, "plan", "tp=3", "attention heads"},
		{"infer", serving, "plan", "tp=16", "needs 16 GPUs"},
		{"infer", serving, "plan", "prefill:tp=1", "names one role"},
		{"infer", serving, "plan", "prefill:tp=3;decode:tp=1", "attention heads"},
		{"infer", serving, "engine", "foo", "unknown engine"},
		{"schedule", scheduleExample, "name", "foo", "unknown schedule"},
		{"schedule", scheduleExample, "stages", 0, "at least 1"},
		{"schedule", scheduleExample.with(example{"name": "dualpipe"}), "stages", 3, "even number"},
		{"schedule", scheduleExample, "microbatches", 0, "at least 1"},
		{"schedule", scheduleExample, "microbatches", 3000, "at most 65536"},
		{"schedule", scheduleExample, "microbatches", 900_000, "at most 65536"},
		{"schedule", scheduleExample, "vpp", 2, "for interleaved"},
		{"train/timeline", trainExample.with(example{"plan": "tp=8,pp=2,mbs=1"}), "global_batch", 1 << 13, "too many passes"},
		{"train/whynot", trainExample.with(example{"plan": "tp=8,pp=2,zero=1"}), "against", "tp=3", "product is"},
		{"train/sweep", trainExample.with(example{"sweep": "network"}), "plans", []string{"fsdp", "tp=3"}, "product is"},
	} {
		code, _, body := fetch(t, post(t, h.URL+"/api/v1/"+c.path, c.of.with(example{c.field: c.value})))
		wantProblem(t, fmt.Sprintf("%s %s=%v", c.path, c.field, c.value), code, body, 422, c.field, c.detail)
	}
}

// An evaluation that cannot begin names the service, or the model where the service says that it has none of that name.
func TestBenchNamesItsField(t *testing.T) {
	none := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":{"message":"The model `+"`absent`"+` does not exist.","code":404}}`, http.StatusNotFound)
	}))
	t.Cleanup(none.Close)
	dead := httptest.NewServer(nil)
	dead.Close()
	h := serve(t, Options{Services: Services{URLs: []string{none.URL + "/v1", dead.URL + "/v1"}}})
	for _, c := range []struct{ url, model, field string }{
		{none.URL, "absent", "model"}, {none.URL, "a\nb", "model"}, {none.URL, "other", "url"}, {dead.URL, "absent", "url"},
	} {
		stream := bufio.NewReader(open(t, t.Context(), h.Client(), h.URL+"/api/v1/bench", benchExample.with(example{"url": c.url + "/v1", "model": c.model})).Body)
		name, data := event(t, stream)
		var p Problem
		if err := json.Unmarshal([]byte(data), &p); err != nil || name != "error" || p.Field != c.field {
			t.Errorf("%s: %s %s, want an error of %q", c.model, name, data, c.field)
		}
	}
}
