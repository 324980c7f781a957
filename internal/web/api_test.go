package web

import (
	"bytes"
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

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ridgeline/ridgeline/internal/api"
)

var update = flag.Bool("update", false, "rewrite the expected answers")

// operations lists what the description names, by id.
func operations(s *Server) map[string]*huma.Operation {
	all := map[string]*huma.Operation{}
	for path, item := range s.api.OpenAPI().Paths {
		for method, op := range map[string]*huma.Operation{http.MethodGet: item.Get, http.MethodPost: item.Post} {
			if op != nil {
				op.Method, op.Path = method, path
				all[op.OperationID] = op
			}
		}
	}
	return all
}

// call sends an operation's own example.
func call(t *testing.T, url string, op *huma.Operation) (int, []byte) {
	t.Helper()
	path := strings.NewReplacer("/runs/{id}", "/runs/1", "/runs/compare", "/runs/compare?a=1&b=2",
		"/models/{name}", "/models/deepseek-v3", "/gpus/{name}", "/gpus/h800", "/clusters/{name}", "/clusters/h800x2048").Replace(op.Path)
	r := get(t, url+path)
	if op.Method == http.MethodPost {
		var body any = []byte(tinyConfig)
		if e := op.RequestBody.Content["application/json"].Example; e != nil {
			body = e
		}
		r = post(t, url+path, body)
	}
	code, _, b := fetch(t, r)
	return code, b
}

const tinyConfig = `{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,
"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":1000,"max_position_embeddings":2048,"torch_dtype":"bfloat16"}`

// The description is what the handlers do: every operation answers its own example
// with a document of the schema that it names.
func TestDescriptionAgreesWithHandlers(t *testing.T) {
	db, _ := database(t)
	for range 2 {
		r, err := api.RunOf([]byte(`{"url":"u","model":"m","load":"l","started":"2026-01-02T03:04:05Z","stages":[{"mode":"closed","concurrency":1,"ttft_ms":{"n":2,"mean":1,"p50":1}}]}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	h := serve(t, Options{Store: db})
	s := New(Options{})
	defer s.Close()
	schema := describer(t, h.URL)
	ops := operations(s)
	if len(ops) < 17 {
		t.Fatalf("%d operations", len(ops))
	}
	for _, id := range slices.Sorted(maps.Keys(ops)) {
		op := ops[id]
		if id == "bench" || id == "live" {
			continue // events: their tests are beside
		}
		code, body := call(t, h.URL, op)
		if code != 200 {
			t.Errorf("%s: %d %.300s", id, code, body)
			continue
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		at := []string{"paths", op.Path, strings.ToLower(op.Method)}
		if err := schema(append(at, "responses", "200", "content", "application/json", "schema")...).Validate(doc); err != nil {
			t.Errorf("%s, answer: %v", id, err)
		}
		if op.RequestBody != nil && op.RequestBody.Content["application/json"].Example != nil {
			b, err := json.Marshal(op.RequestBody.Content["application/json"].Example)
			if err != nil {
				t.Fatal(err)
			}
			in, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema(append(at, "requestBody", "content", "application/json", "schema")...).Validate(in); err != nil {
				t.Errorf("%s, example: %v", id, err)
			}
		}
		shape(t, id, doc)
	}
}

// describer compiles the served description as JSON Schema, which OpenAPI 3.1 is.
func describer(t *testing.T, url string) func(path ...string) *jsonschema.Schema {
	t.Helper()
	_, _, body := fetch(t, get(t, url+"/openapi.json"))
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("http://api/openapi.json", doc); err != nil {
		t.Fatal(err)
	}
	return func(path ...string) *jsonschema.Schema {
		t.Helper()
		at := "http://api/openapi.json#"
		for _, p := range path {
			at += "/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(p)
		}
		s, err := c.Compile(at)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

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

// The document is OpenAPI 3.1, and whole: references resolve and ids are unique.
func TestOpenAPI(t *testing.T) {
	h := serve(t, Options{Version: "1.2.3"})
	_, _, body := fetch(t, get(t, h.URL+"/openapi.json"))
	var doc struct {
		OpenAPI    string
		Info       struct{ Title, Version string }
		Paths      map[string]map[string]struct{ OperationID string }
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.1") || doc.Info.Version != "1.2.3" || len(doc.Paths) == 0 {
		t.Errorf("openapi %q, info %v, %d paths", doc.OpenAPI, doc.Info, len(doc.Paths))
	}
	ids := map[string]bool{}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			if op.OperationID == "" || ids[op.OperationID] {
				t.Errorf("%s %s: operation id %q is empty or not its own", method, path, op.OperationID)
			}
			ids[op.OperationID] = true
		}
	}
	for _, part := range bytes.Split(body, []byte(`"$ref":"#/components/schemas/`))[1:] {
		name, _, _ := bytes.Cut(part, []byte(`"`))
		if doc.Components.Schemas[string(name)] == nil {
			t.Errorf("nothing is called %s", name)
		}
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
