package openai

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// plain hides what kind of connection it is, so that its bytes come through the library's readers only.
type plain struct{ net.Conn }

func plainly(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return plain{c}, nil
}

// The ways in which the bytes of an answer are written.
type writing struct {
	name  string
	write func(c net.Conn, body string)
}

// chunked writes the body in HTTP chunks of n bytes, each alone where apart is set.
func inChunks(n int, apart bool, end string) func(net.Conn, string) {
	return func(c net.Conn, body string) {
		c.Write([]byte(answerHead))
		var all bytes.Buffer
		for b := body; b != ""; {
			k := min(n, len(b))
			if all.WriteString(chunk(b[:k])); apart {
				all.WriteTo(c)
			}
			b = b[k:]
		}
		all.WriteString(end)
		all.WriteTo(c)
	}
}

func head(lines string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n" + lines + "\r\n"
}

var writings = []writing{
	{"a chunk a byte", inChunks(1, false, lastOne)},
	{"a chunk a byte, apart", inChunks(1, true, lastOne)},
	{"chunks of 7 bytes, apart", inChunks(7, true, lastOne)},
	{"chunks of 61 bytes", inChunks(61, false, lastOne)},
	{"one chunk", inChunks(1<<20, false, lastOne)},
	{"trailers", inChunks(61, false, "0\r\nX-Sum: 1\r\n\r\n")},
	{"no last chunk", inChunks(61, false, "")},
	{"half of the last chunk", inChunks(61, false, "0\r\n")},
	{"a chunk that ends early", inChunks(61, false, "ff\r\ndata: ")},
	{"no size", inChunks(61, false, "zz\r\n")},
	{"reset", func(c net.Conn, body string) {
		inChunks(61, false, "")(c, body)
		time.Sleep(5 * time.Millisecond) // a reset throws away what is not read
		if tcp, ok := c.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
	}},
	{"extensions of chunks", func(c net.Conn, body string) {
		fmt.Fprintf(c, "%s%x;name=value\r\n%s\r\n%s", answerHead, len(body), body, lastOne)
	}},
	{"sizes in capitals with zeros", func(c net.Conn, body string) {
		fmt.Fprintf(c, "%s000%X\r\n%s\r\n%s", answerHead, len(body), body, lastOne)
	}},
	{"bytes apart", func(c net.Conn, body string) {
		for _, b := range []byte(answerHead + chunk(body) + lastOne) {
			c.Write([]byte{b})
		}
	}},
	{"a length", func(c net.Conn, body string) {
		fmt.Fprintf(c, "%s%s", head(fmt.Sprintf("Content-Length: %d\r\n", len(body))), body)
	}},
	{"a length that is not reached", func(c net.Conn, body string) {
		fmt.Fprintf(c, "%s%s", head(fmt.Sprintf("Content-Length: %d\r\n", len(body)+9)), body)
	}},
	{"to the end of the connection", func(c net.Conn, body string) { fmt.Fprintf(c, "%s%s", head("Connection: close\r\n"), body) }},
	{"HTTP/1.0", func(c net.Conn, body string) {
		fmt.Fprintf(c, "HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n%s", body)
	}},
	{"heads of 1xx first", func(c net.Conn, body string) {
		c.Write([]byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n"))
		inChunks(61, true, lastOne)(c, body)
	}},
	{"a head of LF alone", func(c net.Conn, body string) {
		fmt.Fprintf(c, "%s%s%s", strings.ReplaceAll(answerHead, "\r", ""), chunk(body), lastOne)
	}},
	{"another answer after it", inChunks(61, false, lastOne+"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")},
	{"said to be compressed", func(c net.Conn, body string) {
		fmt.Fprintf(c, "%s%s%s", head("Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n"), chunk(body), lastOne)
	}},
	{"no answer", func(net.Conn, string) {}},
	{"half a head", func(c net.Conn, _ string) { c.Write([]byte(answerHead[:40])) }},
}

// bodies are what services and gateways send within.
func bodies() map[string]string {
	usage := "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n"
	whole := token("a") + token("é€😀") + stop + usage + doneTxt
	return map[string]string{
		"whole":                 whole,
		"CR LF":                 strings.ReplaceAll(whole, "\n", "\r\n"),
		"CR":                    strings.ReplaceAll(whole, "\n", "\r"),
		"no space after data":   strings.ReplaceAll(whole, "data: ", "data:"),
		"a byte order mark":     mark + whole,
		"comments between":      strings.ReplaceAll(whole, "data: ", ": keep-alive\n\ndata: "),
		"other fields":          strings.ReplaceAll(whole, "data: ", "id: 7\nretry: 10\nevent: message\ndata: "),
		"an event of two lines": token("a") + "data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"b\"}}]}\n\n" + stop + doneTxt,
		"usage with each":       "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\n" + stop + usage + doneTxt,
		"an error object":       token("a") + "data: {\"error\":{\"message\":\"out of memory\"}}\n\n",
		"an error field":        token("a") + "error: {\"message\":\"no\"}\n\n" + doneTxt,
		"garbage":               token("a") + "data: {\"choices\":[\n\n" + doneTxt,
		"half an event":         token("a") + "data: {\"cho",
		"no finish":             token("a") + doneTxt,
		"no done":               token("a") + stop,
		"bytes after done":      whole + token("late") + "data: {",
		"no token":              stop + doneTxt,
		"nothing":               "",
		"a long event":          token(strings.Repeat("long ", 4000)) + stop + doneTxt,
		"too long an event":     token("a") + token(strings.Repeat("x", 70_000)) + stop + doneTxt,
	}
}

// same leaves out what differs from one connection to another.
var same = cmp.Options{
	cmpopts.IgnoreFields(Answer{}, "Sent", "Headers", "FirstEvent", "End", "Connection", "Reason"),
	cmpopts.IgnoreFields(Chunk{}, "At"),
}

// Whatever a server sends and however it cuts it, a connection whose bytes are taken as they arrive,
// one that the library reads, and one within TLS give the same record.
func TestPathsAgree(t *testing.T) {
	var served atomic.Pointer[func(net.Conn)]
	answer := func(c net.Conn, _ *http.Request) { (*served.Load())(c) }
	clear, secret := scripted(t, false, answer), scripted(t, true, answer)
	config := Config{URL: clear.URL + "/v1", Limits: Limits{Event: 60_000}, Reconnect: true}
	taken := newClient(t, config)
	config.Dial = plainly
	read := newClient(t, config)
	config.Dial, config.URL, config.Insecure = nil, secret.URL+"/v1", true
	within := newClient(t, config)
	for name, body := range bodies() {
		for _, w := range writings {
			if strings.Contains(w.name, "apart") && (testing.Short() || len(body) > 1000) {
				continue // some hundred calls each
			}
			write := func(c net.Conn) { w.write(c, body) }
			served.Store(&write)
			q := Request{Stream: true, Keep: true}
			a := taken.Do(t.Context(), &q)
			others := map[string]*Answer{"read": read.Do(t.Context(), &q)}
			if w.name != "reset" { // TLS ends with a word of its own
				others["TLS"] = within.Do(t.Context(), &q)
			}
			for path, b := range others {
				if d := cmp.Diff(b, a, same); d != "" {
					t.Errorf("%s, %s: %s and taken (%s, %s):\n%s", name, w.name, path, b.Reason, a.Reason, d)
				}
			}
			if len(a.Chunks) > 0 && (a.Sent == 0 || a.Headers < a.Sent || a.FirstEvent < a.Headers || a.End < a.FirstEvent) {
				t.Errorf("%s, %s: sent at %v, head at %v, first event at %v, end at %v", name, w.name, a.Sent, a.Headers, a.FirstEvent, a.End)
			}
		}
	}
}

// The time at which a request was sent is its own, also on a connection that sent others before.
func TestSentIsTheRequestsOwn(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, token("a")+stop+doneTxt)
	}))
	t.Cleanup(s.Close)
	for name, dial := range map[string]func(context.Context, string, string) (net.Conn, error){"taken": nil, "read": plainly} {
		k := newClient(t, Config{URL: s.URL + "/v1", Dial: dial})
		last := time.Duration(0)
		for i := range 4 {
			before := k.now()
			a := k.Do(t.Context(), &Request{Stream: true})
			if len(a.Chunks) != 1 || a.Connection.Reused != (i > 0) || a.Sent < before || a.Sent <= last || a.Headers < a.Sent || a.Sent > k.now() {
				t.Errorf("%s, request %d: %q %s, begun at %v, sent at %v, head at %v; the one before ended at %v", name, i, a.Class, a.Reason, before, a.Sent, a.Headers, last)
			}
			last = a.End
			time.Sleep(2 * time.Millisecond)
		}
	}
}

// A chunk of its own read has the system's stamp; those that one read brought are as late as what reads them.
func TestChunksOfOneReadAreDoubted(t *testing.T) {
	for _, together := range []bool{false, true} {
		s := scripted(t, false, func(c net.Conn, _ *http.Request) {
			c.Write([]byte(answerHead))
			time.Sleep(20 * time.Millisecond)
			if c.Write([]byte(chunk(token("a")))); !together {
				time.Sleep(20 * time.Millisecond)
				c.Write([]byte(chunk(token("b")) + chunk(stop+doneTxt) + lastOne))
				return
			}
			c.Write([]byte(chunk(token("b")) + chunk(token("c")) + chunk(stop+doneTxt) + lastOne))
		})
		k := newClient(t, Config{URL: s.URL + "/v1", Reconnect: true})
		k.Do(t.Context(), &Request{Stream: true}) // the system stamps from now on
		Lateness()
		noted := true
		for i := 0; i < 20 && (i == 0 || noted && !together); i++ { // on a busy machine chunks apart may be read at once
			if a := k.Do(t.Context(), &Request{Stream: true}); a.Class != "" {
				t.Fatalf("%q %s", a.Class, a.Reason)
			}
			_, _, noted = Lateness()
		}
		if noted != together {
			t.Errorf("two chunks at once: %v, noted: %v", together, noted)
		}
	}
}
