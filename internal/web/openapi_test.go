package web

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ridgeline/ridgeline/internal/api"
)

// operations lists what the description names, by id.
func operations(t *testing.T) map[string]*huma.Operation {
	t.Helper()
	s := New(Options{})
	defer s.Close()
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
	schema := describer(t, h.URL)
	ops := operations(t)
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
		doc := decoded(t, body)
		at := []string{"paths", op.Path, strings.ToLower(op.Method)}
		if err := schema(append(at, "responses", "200", "content", "application/json", "schema")...).Validate(doc); err != nil {
			t.Errorf("%s, answer: %v", id, err)
		}
		if op.RequestBody != nil && op.RequestBody.Content["application/json"].Example != nil {
			b, err := json.Marshal(op.RequestBody.Content["application/json"].Example)
			if err != nil {
				t.Fatal(err)
			}
			if err := schema(append(at, "requestBody", "content", "application/json", "schema")...).Validate(decoded(t, b)); err != nil {
				t.Errorf("%s, example: %v", id, err)
			}
		}
		shape(t, id, doc)
	}
}

// Refusals are problems of the schema that every operation names for them.
func TestDescriptionOfProblems(t *testing.T) {
	h := serve(t, Options{})
	schema := describer(t, h.URL)
	for id, op := range operations(t) {
		if op.Method != http.MethodPost || id == "inspect" {
			continue
		}
		code, _, body := fetch(t, post(t, h.URL+op.Path, example{"modle": "x"}))
		at := []string{"paths", op.Path, "post", "responses", "422", "content", "application/problem+json", "schema"}
		if err := schema(at...).Validate(decoded(t, body)); err != nil || code != 422 {
			t.Errorf("%s: %d %s: %v", id, code, body, err)
		}
	}
}

// Every answer in events has the data of each described.
func TestDescriptionOfEvents(t *testing.T) {
	h := serve(t, Options{})
	schema := describer(t, h.URL)
	streams := 0
	for id, op := range operations(t) {
		if len(op.Tags) != 1 || !slices.ContainsFunc(groups, func(g *huma.Tag) bool { return g.Name == op.Tags[0] }) {
			t.Errorf("%s is in no group of the page: %v", id, op.Tags)
		}
		media := op.Responses["200"].Content["text/event-stream"]
		if media == nil {
			continue
		}
		streams++
		events, ok := media.Extensions["x-events"].(map[string]any)
		if !ok || len(events) == 0 {
			t.Errorf("%s: no event is described", id)
		}
		for name := range events {
			schema("paths", op.Path, strings.ToLower(op.Method), "responses", "200", "content", "text/event-stream", "x-events", name) // compiles
		}
	}
	if streams < 11 {
		t.Errorf("%d answers in events", streams)
	}
	of := func(name string) *jsonschema.Schema {
		return schema("paths", "/api/v1/train", "post", "responses", "200", "content", "text/event-stream", "x-events", name)
	}
	stream := bufio.NewReader(open(t, t.Context(), h.Client(), h.URL+"/api/v1/train", trainExample).Body)
	for name, data := event(t, stream); ; name, data = event(t, stream) {
		if err := of(name).Validate(decoded(t, []byte(data))); err != nil {
			t.Errorf("%s %.200s: %v", name, data, err)
		}
		if name == "result" {
			break
		}
	}
}

// describer compiles the served description as JSON Schema, which OpenAPI 3.1 is.
func describer(t *testing.T, url string) func(path ...string) *jsonschema.Schema {
	t.Helper()
	_, _, body := fetch(t, get(t, url+"/openapi.json"))
	return compiled(t, body).of
}

// schemas are those that a document holds, by their places in it.
type schemas struct {
	t *testing.T
	c *jsonschema.Compiler
}

func compiled(t *testing.T, document []byte) schemas {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("http://api/openapi.json", decoded(t, document)); err != nil {
		t.Fatal(err)
	}
	return schemas{t, c}
}

func (s schemas) of(path ...string) *jsonschema.Schema {
	s.t.Helper()
	at := "http://api/openapi.json#"
	for _, p := range path {
		at += "/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(p)
	}
	schema, err := s.c.Compile(at)
	if err != nil {
		s.t.Fatal(err)
	}
	return schema
}

// decoded is JSON as the validator takes it: numbers exact.
func decoded(t *testing.T, b []byte) any {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("%v: %.300s", err, b)
	}
	return doc
}

// The document is OpenAPI 3.1 by the initiative's own schema, and whole:
// references resolve and ids are unique. The schema is that of
// https://spec.openapis.org/oas/3.1/schema/2021-04-15 (Apache-2.0).
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
	official, err := os.ReadFile(filepath.Join("testdata", "openapi-3.1.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiled(t, official).of().Validate(decoded(t, body)); err != nil {
		t.Error(err)
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
