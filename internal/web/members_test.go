package web

import "testing"

// Of a plan's members none is dropped in silence.
func TestMembersOfPlans(t *testing.T) {
	h := serve(t, Options{})
	serving := example{"model": "llama-3.1-8b", "cluster": "h100x8", "isl": 1000, "osl": 200}
	for _, c := range []struct {
		path  string
		of    example
		field string
		text  string
		part  string
	}{
		{"infer", serving, "plan", `{"prefill":"tp=1","decode":"tp=1","prefill_worker":3}`, "prefill_worker"},
		{"infer", serving, "plan", `{"prefill":"tp=1","decode":"tp=1","tp":8}`, "tp"},
		{"train/explain", trainExample, "plan", `{"tp":1,"tp":2,"pp":1,"zero":1}`, "given twice"},
		{"train", trainExample, "turn", `{"network":2,"network":0.5}`, "given twice"},
		{"train/price", trainExample, "plans", `[]`, "give 1 to 64"},
	} {
		code, _, body := fetch(t, post(t, h.URL+"/api/v1/"+c.path, c.of.with(example{c.field: rawJSON(c.text)})))
		wantProblem(t, c.path+" "+c.text, code, body, 422, c.field, c.part)
	}
}

// rawJSON is sent as it is, doubled members included.
type rawJSON string

func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// A weight of 0 refuses what it names, and another name is another thing.
func TestAccepts(t *testing.T) {
	for header, want := range map[string]bool{"gzip": true, "br, gzip;q=0.5": true, "GZIP": true, "gzip;q=0, identity": false, "x-gzip-not": false, "": false, "gzip;q=0.000": false} {
		if accepts([]string{header}, "gzip") != want {
			t.Errorf("%q: want %t", header, want)
		}
	}
}
