package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"testing"
)

// Answers shrink for who takes gzip, and say the same; small ones, events and
// who does not take it get them as they are.
func TestAnswersAreCompressed(t *testing.T) {
	h := serve(t, Options{})
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	ask := func(r *http.Request, encoding, accept string) (*http.Response, []byte) {
		t.Helper()
		r.Header.Set("Accept-Encoding", encoding)
		if accept != "" {
			r.Header.Set("Accept", accept)
		}
		a, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		b, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a, b
	}
	for _, path := range []string{"/api/v1/models", "/api/v1/gpus", "/openapi.json", "/"} {
		_, plain := ask(get(t, h.URL+path), "identity", "")
		a, small := ask(get(t, h.URL+path), "br, gzip", "")
		if a.Header.Get("Content-Encoding") != "gzip" && len(plain) > worthIt {
			t.Errorf("%s: %d bytes as they are", path, len(plain))
			continue
		}
		if a.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(bytes.NewReader(small))
			if err != nil {
				t.Fatal(err)
			}
			if again, err := io.ReadAll(z); err != nil || !bytes.Equal(again, plain) {
				t.Errorf("%s: another answer, %v", path, err)
			}
			if 3*len(small) > len(plain) && len(plain) > 20_000 {
				t.Errorf("%s: %d of %d bytes", path, len(small), len(plain))
			}
		}
		if a.Header.Get("Vary") == "" {
			t.Errorf("%s: a cache may mix the two up", path)
		}
	}
	if a, b := ask(get(t, h.URL+"/api/v1/models/nothing"), "gzip", ""); a.StatusCode != 404 || a.Header.Get("Content-Encoding") != "" || !bytes.HasPrefix(b, []byte("{")) {
		t.Errorf("a short answer: %d %v %.100s", a.StatusCode, a.Header, b)
	}
	if a, b := ask(post(t, h.URL+"/api/v1/train", trainExample), "gzip", "text/event-stream"); a.Header.Get("Content-Encoding") != "" || !bytes.Contains(b, []byte("event: result")) {
		t.Errorf("events: %v %.100s", a.Header, b)
	}
	if a, b := ask(get(t, h.URL+"/api/v1/runs/live"), "gzip", ""); a.StatusCode != 204 || len(b) != 0 {
		t.Errorf("nothing to say: %d %s", a.StatusCode, b)
	}
}
