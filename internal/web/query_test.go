package web

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// A query with a parameter that an operation does not have, or has once, is refused in every operation, and the
// problem names it.
func TestQueryIsNotIgnored(t *testing.T) {
	h := serveOn(t, New(Options{}))
	refused := func(method, path, field, says string) {
		t.Helper()
		r := get(t, h.URL+path)
		if method == http.MethodPost {
			r = post(t, h.URL+path, example{})
		}
		code, _, body := fetch(t, r)
		var p Problem
		if err := json.Unmarshal([]byte(body), &p); err != nil || code != http.StatusBadRequest || p.Field != field || !strings.Contains(p.Detail, says) {
			t.Errorf("%s %s: %d %s, want field %q and %q", method, path, code, body, field, says)
		}
	}
	for _, op := range operations(t) {
		refused(op.Method, strings.NewReplacer("{id}", "1", "{name}", "h100").Replace(op.Path)+"?nope=secret", "nope", `parameter "nope"`)
		if op.Responses["400"] == nil {
			t.Errorf("%s: 400 is not described", op.OperationID)
		}
	}
	for _, c := range []struct{ query, field, says string }{
		{"?seq=1&seq=2", "seq", "twice"},
		{"?seq=1&seq=1", "seq", "twice"},
		{"?seqs=1", "seqs", "did you mean seq?"},
		{"?seq=4096&verbose", "verbose", "use seq"},
		{"?SEQ=4096", "SEQ", "query parameter"},
		{"?seq=", "seq", "empty"},
		{"?seq", "seq", "empty"},
		{"?s%65q=1&seq=1", "seq", "twice"},
		{"?seq=1;seq=2", "seq", "escape"},
		{"?seq=%zz", "seq", "escape"},
		{"?=1", "", "query parameter"},
	} {
		refused(http.MethodGet, "/api/v1/models"+c.query, c.field, c.says)
	}
	for _, query := range []string{"", "?", "?&", "?seq=8192", "?s%65q=8192"} {
		if code, _, body := fetch(t, get(t, h.URL+"/api/v1/models/llama-3.1-8b"+query)); code != http.StatusOK {
			t.Errorf("%q: %d %s", query, code, body)
		}
	}
}
