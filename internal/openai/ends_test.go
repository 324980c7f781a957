package openai

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const answerHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// chunk is text in HTTP's chunked coding.
func chunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

func token(text string) string {
	return fmt.Sprintf("data: {\"choices\":[{\"delta\":{\"content\":%q},\"finish_reason\":null}]}\n\n", text)
}

const (
	stop    = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
	doneTxt = "data: [DONE]\n\n"
	lastOne = "0\r\n\r\n"
)

// scripted serves connections by what is written on them after each request. Within TLS bytes
// come through the library's readers only.
func scripted(t *testing.T, secure bool, write func(net.Conn, *http.Request)) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		write(c, r)
	}))
	if secure {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// After [DONE] nothing counts: neither what follows nor how the connection ends, however it is
// cut and whoever reads it.
func TestNothingCountsAfterDone(t *testing.T) {
	head := answerHead + chunk(token("a")) + chunk(token("b")) + chunk(stop)
	size := fmt.Sprintf("%x\r\n", len(doneTxt))
	garbage := "data: garbage\n\n"
	for name, pieces := range map[string][]string{
		"a chunk without its end":        {head, size + doneTxt + "XX"},
		"apart":                          {head, size + doneTxt, "XX"},
		"the end instead of it":          {head, size + doneTxt + lastOne},
		"no size":                        {head + chunk(doneTxt) + "zz\r\n"},
		"closed":                         {head + chunk(doneTxt)},
		"closed within the last chunk":   {head + chunk(doneTxt) + "0\r\n"},
		"garbage at once":                {head + chunk(doneTxt) + chunk(garbage) + lastOne},
		"garbage apart":                  {head, chunk(doneTxt), chunk(garbage), lastOne},
		"garbage in the chunk":           {answerHead + chunk(token("a")+token("b")+stop+doneTxt+garbage) + lastOne},
		"a token at once":                {head + chunk(doneTxt) + chunk(token("c")) + lastOne},
		"a token in the chunk":           {head + chunk(doneTxt+token("c")) + lastOne},
		"more than the limit at once":    {head + chunk(doneTxt+strings.Repeat(":\n", 6000)) + lastOne},
		"more than the limit apart":      {head, chunk(doneTxt), chunk(strings.Repeat(":\n", 6000)), lastOne},
		"an error object":                {head + chunk(doneTxt+"data: {\"error\":{\"message\":\"late\"}}\n\n") + lastOne},
		"a chunk that never comes whole": {head + "ffff\r\n" + doneTxt},
		"a long chunk":                   {head + chunk(doneTxt) + chunk(strings.Repeat("x", 100_000)) + lastOne},
	} {
		for _, secure := range []bool{false, true} {
			s := scripted(t, secure, func(c net.Conn, _ *http.Request) {
				for i, p := range pieces {
					if i > 0 {
						time.Sleep(2 * time.Millisecond) // likely read apart
					}
					c.Write([]byte(p))
				}
			})
			k := newClient(t, Config{URL: s.URL + "/v1", Insecure: true, Limits: Limits{Body: 4000, Event: 3000}})
			if a := k.Do(t.Context(), &Request{Stream: true}); a.Class != "" || len(a.Chunks) != 2 {
				t.Errorf("%s, TLS %v: %q %s, %d chunks", name, secure, a.Class, a.Reason, len(a.Chunks))
			}
		}
	}
}

// An answer that is not HTTP is called that, and not a connection that broke; one that
// ends early is the latter.
func TestWhatIsNoHTTP(t *testing.T) {
	first := fmt.Sprintf("%x\r\n%s", len(token("a")), token("a"))
	for name, x := range map[string]struct {
		says string
		want Class
	}{
		"a chunk without its end":    {answerHead + first + "XX", Protocol},
		"no length":                  {answerHead + first + "\r\nzz\r\n", Protocol},
		"a length past all bounds":   {answerHead + first + "\r\nfffffffffffffffff\r\n", Protocol},
		"two lengths of the body":    {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef", Protocol},
		"a length that is no number": {"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nabcde", Protocol},
		"the banner of SSH":          {"SSH-2.0-OpenSSH_9.9\r\n", Protocol},
		"a head without colons":      {"HTTP/1.1 200 OK\r\nthis is no field\r\n\r\n", Protocol},
		"nothing":                    {"", Reset},
		"half a head":                {"HTTP/1.1 200 OK\r\nContent-Type: te", Reset},
		"half a chunk":               {answerHead + first[:len(first)-9], Reset},
		"a redirect to no address":   {"HTTP/1.1 307 Elsewhere\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n", Redirected},
		"a redirect to nowhere":      {"HTTP/1.1 307 Elsewhere\r\nContent-Length: 0\r\n\r\n", Redirected},
	} {
		for _, secure := range []bool{false, true} {
			s := scripted(t, secure, func(c net.Conn, _ *http.Request) { c.Write([]byte(x.says)) })
			if a := newClient(t, Config{URL: s.URL + "/v1", Insecure: true}).Do(t.Context(), &Request{Stream: true}); a.Class != x.want || a.Reason == "" {
				t.Errorf("%s, TLS %v: %q %s", name, secure, a.Class, a.Reason)
			}
		}
	}
}

// What a service says of its failure is found wherever it says it.
func TestErrorsHaveReasons(t *testing.T) {
	for event, want := range map[string]string{
		`{"error":{"message":"no memory"}}`: "no memory", `{"error":"no memory"}`: "no memory", `{"message":"no memory"}`: "no memory",
		`{"detail":"no memory"}`: "no memory", `{"detail":[{"msg":"no memory"}]}`: `[{"msg":"no memory"}]`, `{}`: saysError, `no memory`: saysError,
	} {
		s := scripted(t, false, func(c net.Conn, _ *http.Request) {
			c.Write([]byte(answerHead + chunk("event: error\ndata: "+event+"\n\n") + lastOne))
		})
		if a := newClient(t, Config{URL: s.URL + "/v1"}).Do(t.Context(), &Request{Stream: true}); a.Class != ErrorObject || a.Reason != want {
			t.Errorf("%s: %q %q", event, a.Class, a.Reason)
		}
	}
	s := scripted(t, false, func(c net.Conn, _ *http.Request) {
		body := `{"detail":"Not Found"}`
		fmt.Fprintf(c, "HTTP/1.1 404 Not Found\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	})
	if a := newClient(t, Config{URL: s.URL + "/v1"}).Do(t.Context(), &Request{Stream: true}); a.Reason != "status 404 Not Found" {
		t.Errorf("%q %q", a.Class, a.Reason)
	}
}

// Where an answer is given up within a chunk, what is left of the chunk is never taken for the
// body's framing.
func TestGivenUpWithinAChunk(t *testing.T) {
	s := scripted(t, false, func(c net.Conn, _ *http.Request) {
		c.Write([]byte(answerHead + chunk(token("a")) + "ffff\r\n"))
		for { // lines of no event, which as framing would be the end of the body
			if _, err := c.Write([]byte("0\r\n\r\n")); err != nil {
				return
			}
			time.Sleep(100 * time.Microsecond)
		}
	})
	k := newClient(t, Config{URL: s.URL + "/v1"})
	short := newClient(t, Config{URL: s.URL + "/v1", Limits: Limits{Total: 20 * time.Millisecond}})
	for range 10 {
		if a := short.Do(t.Context(), &Request{Stream: true}); a.Class != Overtime || len(a.Chunks) > 1 {
			t.Errorf("%q %s, %d chunks", a.Class, a.Reason, len(a.Chunks))
		}
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Millisecond, func() { stop(errors.New("of the user")) })
		if a := k.Do(ctx, &Request{Stream: true}); a.Class != Interrupted {
			t.Errorf("%q %s", a.Class, a.Reason)
		}
	}
}

// An answer after whose [DONE] bytes come without an end is over within the closing limit, and
// a stream of comments without an end delays none beside it.
func TestStreamsBesideAFlood(t *testing.T) {
	const tokens = 20
	after := chunk(":\n")
	s := scripted(t, false, func(c net.Conn, r *http.Request) {
		text := answerHead + chunk(token("a")) + chunk(stop)
		switch {
		case strings.HasPrefix(r.URL.Path, "/slow"):
			c.Write([]byte(answerHead))
			for range tokens {
				c.Write([]byte(chunk(token("a"))))
				time.Sleep(10 * time.Millisecond)
			}
			c.Write([]byte(chunk(stop) + chunk(doneTxt) + lastOne))
			return
		case strings.HasPrefix(r.URL.Path, "/done"):
			text += chunk(doneTxt)
		}
		c.Write([]byte(text))
		for more := []byte(strings.Repeat(after, 10_000)); ; {
			if _, err := c.Write(more); err != nil {
				return
			}
		}
	})
	began := time.Now()
	a := newClient(t, Config{URL: s.URL + "/done/v1"}).Do(t.Context(), &Request{Stream: true})
	if took := time.Since(began); a.Class != "" || took > 20*closing {
		t.Errorf("%q %s after %v", a.Class, a.Reason, took)
	}
	over := make(chan *Answer, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		over <- newClient(t, Config{URL: s.URL + "/endless/v1", Limits: Limits{Body: 1 << 50}}).Do(ctx, &Request{Stream: true})
	}()
	answers := make(chan *Answer, 3)
	for range cap(answers) {
		go func() {
			answers <- newClient(t, Config{URL: s.URL + "/slow/v1"}).Do(t.Context(), &Request{Stream: true})
		}()
	}
	for range cap(answers) {
		a := <-answers
		apart := 1
		for i := 1; i < len(a.Chunks); i++ {
			if a.Chunks[i].At-a.Chunks[i-1].At > time.Millisecond {
				apart++
			}
		}
		if a.Class != "" || len(a.Chunks) != tokens || apart < tokens/4 { // all at once where the flood starves it; a busy machine sends some late
			t.Errorf("%q %s: %d chunks, %d of them apart", a.Class, a.Reason, len(a.Chunks), apart)
		}
	}
	stop()
	if a := <-over; a.Class != Interrupted {
		t.Errorf("%q %s", a.Class, a.Reason)
	}
}

// Long events are left to the exchange's own goroutine, whether one chunk holds them or many.
func TestLongEvents(t *testing.T) {
	long := token(strings.Repeat("long ", 40_000))
	many := ""
	for b := long; b != ""; {
		n := min(1000, len(b))
		many, b = many+chunk(b[:n]), b[n:]
	}
	rest := chunk(token("c")) + chunk(stop) + chunk(doneTxt) + lastOne
	for _, body := range []string{chunk(token("a")) + chunk(long) + rest, chunk(token("a")) + many + rest} {
		s := scripted(t, false, func(c net.Conn, _ *http.Request) { c.Write([]byte(answerHead + body)) })
		a := newClient(t, Config{URL: s.URL + "/v1"}).Do(t.Context(), &Request{Stream: true, Keep: true})
		if a.Class != "" || len(a.Chunks) != 3 || len(a.Text) != len("a")+len("long ")*40_000+len("c") {
			t.Errorf("%q %s, %d chunks, %d bytes", a.Class, a.Reason, len(a.Chunks), len(a.Text))
		}
	}
}

// What is no stream of events, whatever its status, is called what it says it is.
func TestOtherTypesAreNoHalfEvents(t *testing.T) {
	const stream, json = "Content-Type: text/event-stream", `{"object": "chat.completion", "choices": []}`
	for _, x := range []struct {
		head, body string
		want       Class
	}{
		{"Content-Type: text/html", "data: <html>", Garbage},
		{stream + "\r\nContent-Encoding: gzip", "data: <html>", Garbage},
		{stream, "data: <html>", HalfEvent}, {stream + "; charset=utf-8", "data: <html>", HalfEvent}, {stream, "da", HalfEvent},
		{stream, json, Garbage}, {"X-Type: none", json, Garbage}, {"X-Type: none", json + "\n", Garbage}, {"X-Type: none", "{\n  \"id\": 1\n}", Garbage},
		{"X-Type: none", `data: {"cho`, HalfEvent}, {"X-Type: none", ": ping\n\n" + `{"cho`, HalfEvent},
	} {
		s := scripted(t, false, func(c net.Conn, _ *http.Request) {
			fmt.Fprintf(c, "HTTP/1.1 200 OK\r\n%s\r\nTransfer-Encoding: chunked\r\n\r\n%s%s", x.head, chunk(x.body), lastOne)
		})
		if a := newClient(t, Config{URL: s.URL + "/v1"}).Do(t.Context(), &Request{Stream: true}); a.Class != x.want {
			t.Errorf("%q, %q: %q %s", x.head, x.body, a.Class, a.Reason)
		}
	}
}
