package web

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the expected answers")

// shape holds the fields of an answer and their kinds against testdata: numbers
// move as the model of reality improves, and fields may be added.
func shape(t *testing.T, id string, doc any) {
	t.Helper()
	file := filepath.Join("testdata", id+".shape")
	got := lines(doc)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(want)), "\n") {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("%s: the answer lacks %q; fields may be added, not lost", id, line)
		}
	}
}

func lines(doc any) string {
	lines := map[string]bool{}
	walk("", doc, lines)
	return strings.Join(slices.Sorted(maps.Keys(lines)), "\n") + "\n"
}

func shapeOf(t *testing.T, b []byte) string {
	t.Helper()
	var doc any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	return lines(doc)
}

func walk(at string, v any, lines map[string]bool) {
	switch x := v.(type) {
	case map[string]any:
		if free(at) {
			lines[at+" keys of the case"] = true
			return
		}
		for k, v := range x {
			walk(at+"."+k, v, lines)
		}
	case []any:
		lines[at+" list"] = true // of texts such as warnings there may be none
		for _, v := range x {
			if _, text := v.(string); !text {
				walk(at+"[]", v, lines)
			}
		}
	case nil: // may be there or not
	default:
		lines[fmt.Sprintf("%s %T", at, v)] = true
	}
}

// free tells which objects have keys that depend on the case.
func free(at string) bool {
	for _, end := range []string{".plan", ".counts", ".memory", ".exposed", ".parts", ".parameters_by_part", ".waits", ".anatomy_seconds"} {
		if strings.HasSuffix(at, end) {
			return true
		}
	}
	return false
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (go test ./internal/web -update rewrites it):\n%s", file, d)
	}
}

// Answers without physics are kept whole.
func TestGoldenAnswers(t *testing.T) {
	h := serve(t, Options{})
	for name, r := range map[string]*http.Request{
		"schedule.json":      post(t, h.URL+"/api/v1/schedule", scheduleExample.with(example{"microbatches": 4, "stages": 2})),
		"inspect.json":       post(t, h.URL+"/api/v1/models/inspect", []byte(tinyConfig)),
		"inspect-wrong.json": post(t, h.URL+"/api/v1/models/inspect", []byte(`{"model_type":"llama","hidden_size":64}`)),
		"model-unknown.json": get(t, h.URL+"/api/v1/models/nothing"),
		"field-unknown.json": post(t, h.URL+"/api/v1/train", example{"modell": "x"}),
	} {
		_, _, body := fetch(t, r)
		golden(t, name, body)
	}
}

// Anything sent as a question is answered or refused in one line, and opens no file.
func FuzzQuestion(f *testing.F) {
	for _, e := range []example{trainExample, whyNotExample, sweepExample, inferExample, ratioExample, simulateExample, scheduleExample,
		{"model": json.RawMessage(tinyConfig), "cluster": example{"device": "h100", "gpus": 8}, "global_batch": 8, "seq": "4Ki"},
		{"plan": example{"prefill": "tp=1", "decode": "tp=1", "decode_workers": 2}}, {"turn": example{"hbm": 0.5}}, {"seq": nil}, {"cluster": []any{"h100x8", example{}}}} {
		b, err := json.Marshal(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var q fields
		if json.Unmarshal(body, &q) != nil {
			return
		}
		_, _, train := trainFields{q}.request()
		_, _, sweep := sweepFields{q}.request()
		_, infer := inferFields{q}.request()
		_, simulate := simulateFields{q}.request(100)
		_, schedule := scheduleFields{q}.request()
		for _, err := range []error{train, sweep, infer, simulate, schedule} {
			p, ok := err.(*Problem)
			if err != nil && (!ok || p.Detail == "" || strings.ContainsAny(p.Detail, "\n\r") || p.Status < 400 || p.Status > 499) {
				t.Errorf("%q: %v", body, err)
			}
		}
	})
}
