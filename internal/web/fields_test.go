package web

import "testing"

// What is wrong with a field is told with the field, whether the text, the layout or the model is at fault.
func TestProblemsNameTheirField(t *testing.T) {
	h := serve(t, Options{})
	serving := example{"model": "llama-3.1-8b", "cluster": "h100x8", "isl": 1000, "osl": 200}
	for _, c := range []struct {
		path         string
		of           example
		field, value string
		detail       string
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
		{"train", trainExample, "exhaustive", "maybe", "exhaustive=true"},
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
	} {
		code, _, body := fetch(t, post(t, h.URL+"/api/v1/"+c.path, c.of.with(example{c.field: c.value})))
		wantProblem(t, c.path+" "+c.field+"="+c.value, code, body, 422, c.field, c.detail)
	}
}
