package openai

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// cut feeds a stream in pieces that end at the given places.
func cut(text string, places ...int) (list []string, e *events, err error) {
	e = &events{limit: 1 << 16}
	from := 0
	for _, to := range append(places, len(text)) {
		err = e.feed([]byte(text[from:to]), func(kind, data []byte) error {
			list = append(list, string(kind)+"|"+string(data))
			return nil
		})
		if err != nil {
			return list, e, err
		}
		from = to
	}
	return list, e, nil
}

const someEvents = "\xef\xbb\xbfdata: {\"a\": \"b: c\"}\r\n\r\n: a comment\n\ndata:{\"x\":1}\ndata: \r\rid: 7\nevent: error\ndata\n\ndata:  two spaces\n\ndata: [DONE]\n\n"

var theEvents = []string{`|{"a": "b: c"}`, "|{\"x\":1}\n", "error|", "| two spaces", "|[DONE]"}

func TestFields(t *testing.T) {
	list, e, err := cut(someEvents)
	if d := cmp.Diff(theEvents, list); d != "" || err != nil || e.half() {
		t.Error(d, err, e.half())
	}
}

func TestSplitAnywhere(t *testing.T) {
	for i := range len(someEvents) {
		for j := i; j < len(someEvents); j += 7 {
			if list, _, err := cut(someEvents, i, j); err != nil || !slices.Equal(list, theEvents) {
				t.Fatalf("cut at %d and %d: %q, %v", i, j, list, err)
			}
		}
	}
}

func FuzzEvents(f *testing.F) {
	f.Add(someEvents, 5)
	for _, c := range chunks {
		f.Add("data: "+c+"\n\n", 9)
	}
	f.Fuzz(func(t *testing.T, text string, at int) {
		whole, _, errA := cut(text)
		parts, _, errB := cut(text, min(max(at, 0), len(text)))
		if (errA == nil) != (errB == nil) || errA == nil && !slices.Equal(whole, parts) {
			t.Errorf("%q as a whole, %q cut at %d", whole, parts, at)
		}
		c := &Client{}
		x := &exchange{client: c, request: &Request{Stream: true, Keep: true}, answer: &Answer{Answer: -1}}
		for _, w := range whole {
			kind, data, _ := strings.Cut(w, "|")
			if e, ok := quick([]byte(data)); ok {
				agrees(t, data, e)
			}
			_ = x.take(time.Second, []byte(kind), []byte(data)) // an event that is refused is what is fuzzed for
		}
		if a := x.answer; a.Answer >= len(a.Chunks) {
			t.Errorf("the answer begins with chunk %d of %d", a.Answer, len(a.Chunks))
		}
	})
}

func TestLongEventsAreRefused(t *testing.T) {
	e := &events{limit: 100}
	for range 50 {
		if err := e.feed([]byte("data: xxxxxxxx"), func([]byte, []byte) error { return nil }); err != nil {
			return
		}
	}
	t.Errorf("%d bytes are held of an event of 100 at most", len(e.buf))
}

func newClient(t *testing.T, c Config) *Client {
	t.Helper()
	c.Model, c.Endpoint = "m", Chat
	k, err := New(c, time.Now().Add(-time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return k
}

const answerText = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

func TestTLSFailsAsSuch(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answerText) }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	if a := newClient(t, Config{URL: s.URL + "/v1"}).Do(t.Context(), &Request{Stream: true}); a.Class != TLS {
		t.Errorf("an unknown certificate: %s %s", a.Class, a.Reason)
	}
	k := newClient(t, Config{URL: s.URL + "/v1", Insecure: true})
	a, b := k.Do(t.Context(), &Request{Stream: true}), k.Do(t.Context(), &Request{Stream: true})
	if a.Class != "" || a.Connection.TLS <= 0 || a.Connection.Reused || !b.Connection.Reused || b.Connection.TLS != 0 {
		t.Errorf("%s %s: %+v, then %+v", a.Class, a.Reason, a.Connection, b.Connection)
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	if a := newClient(t, Config{URL: strings.Replace(plain.URL, "http:", "https:", 1) + "/v1"}).Do(t.Context(), &Request{}); a.Class != TLS {
		t.Errorf("a service without TLS: %s %s", a.Class, a.Reason)
	}
}

func TestNobodyListens(t *testing.T) {
	s := httptest.NewServer(nil)
	url := s.URL
	s.Close()
	if a := newClient(t, Config{URL: url + "/v1"}).Do(t.Context(), &Request{}); a.Class != Connect || a.Sent != 0 {
		t.Errorf("%s %s", a.Class, a.Reason)
	}
}

// The key goes to the service and nowhere else: not to where it redirects, not
// into what is kept of its complaints.
func TestKeyStaysWithTheService(t *testing.T) {
	const key = "sk-very-secret"
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the redirect was followed: %v", r.Header) }))
	defer other.Close()
	seen := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header.Get("Authorization")
		if r.URL.Path == "/v1/chat/completions" {
			http.Redirect(w, r, other.URL+"/v1/chat/completions", http.StatusTemporaryRedirect)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error": {"message": "Incorrect API key provided: %s"}}`, key)
	}))
	defer s.Close()
	a := newClient(t, Config{URL: s.URL + "/v1", Key: key}).Do(t.Context(), &Request{})
	if a.Class != Redirected || seen != "Bearer "+key || !strings.Contains(a.Reason, other.URL) {
		t.Errorf("%s %q, the service saw %q", a.Class, a.Reason, seen)
	}
	a = newClient(t, Config{URL: s.URL + "/refuses/v1", Key: key}).Do(t.Context(), &Request{})
	if a.Class != HTTPStatus || a.Status != 401 || strings.Contains(a.Reason, key) || !strings.Contains(a.Reason, "Incorrect API key") {
		t.Errorf("%d %q", a.Status, a.Reason)
	}
}

func TestURLsAreChecked(t *testing.T) {
	for _, bad := range []string{"", "localhost:8000/v1", "ftp://x/v1", "http://", "http://user:password@x/v1", "http://x/v1?key=1", "http://a b/"} {
		if u, err := ParseURL(bad); err == nil {
			t.Errorf("%q was taken as %v", bad, u)
		} else if strings.Contains(err.Error(), "password@") {
			t.Errorf("%q: the error repeats the secret", bad)
		}
	}
	if u, err := ParseURL("https://x:1/a/v1/"); err != nil || u.String() != "https://x:1/a/v1" {
		t.Error(u, err)
	}
}

// benchEvent is a chunk as vLLM writes it, with continuous usage.
const benchEvent = `{"id":"chatcmpl-0123456789abcdef","object":"chat.completion.chunk","created":1700000000,"model":"llama-3.1-8b","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null,"token_ids":null}],"usage":{"prompt_tokens":512,"total_tokens":540,"completion_tokens":28}}`

// The cost of reading 1,000 chunks, parsed, from the bytes on; scripts/bench-cost.sh
// sets the whole client beside Python's.
func BenchmarkThousandChunks(b *testing.B) {
	line := []byte("data: " + benchEvent + "\n\n")
	c := &Client{}
	b.ReportAllocs()
	for b.Loop() {
		x := &exchange{client: c, request: &Request{Stream: true}, answer: &Answer{Answer: -1}}
		e := events{limit: 1 << 20}
		for range 1000 {
			if err := e.feed(line, func(kind, data []byte) error { return x.take(1, kind, data) }); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// An answer without an end is given up at the limit, whatever kind it is; a complaint
// without an end is a complaint.
func TestEndlessAnswersAreBounded(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := strings.Repeat("x", 1000)
		switch r.URL.Path {
		case "/stream/v1/chat/completions":
			w.Header().Set("Content-Type", "text/event-stream")
			text = "data: {\"choices\":[{\"delta\":{\"content\":\"" + text + "\"}}]}\n\n"
		case "/refuses/v1/chat/completions":
			w.WriteHeader(http.StatusInternalServerError)
		}
		for r.Context().Err() == nil {
			if _, err := fmt.Fprint(w, text); err != nil {
				return
			}
		}
	}))
	defer s.Close()
	limits := Limits{Body: 100_000}
	for path, want := range map[string]Class{"/stream": TooLarge, "/whole": TooLarge, "/refuses": HTTPStatus} {
		a := newClient(t, Config{URL: s.URL + path + "/v1", Limits: limits}).Do(t.Context(), &Request{Stream: path != "/whole"})
		if a.Class != want {
			t.Errorf("%s: %s %s, want %s", path, a.Class, a.Reason, want)
		}
	}
}
