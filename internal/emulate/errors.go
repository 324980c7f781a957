package emulate

import (
	"encoding/json"
	"net/http"
)

// refuse answers with an error as vLLM words them.
func refuse(w http.ResponseWriter, status int, kind, message string) {
	writeJSON(w, status, errorBody(status, kind, message))
}

func errorBody(status int, kind, message string) map[string]any {
	return map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": status}}
}

// writeJSON answers with one document. A client that has gone is no error here:
// the request's own end tells.
func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}
