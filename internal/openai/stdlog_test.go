package openai

import (
	"bytes"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// safeBuffer is written by the logger, from the transport's goroutines.
type safeBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// Bytes after the end of an answer are no lines among those of progress; a request that they
// cost says why, in words of its own.
func TestBytesAfterTheAnswer(t *testing.T) {
	var all, passed safeBuffer
	before := log.Writer()
	log.SetOutput(io.MultiWriter(&all, Log(&passed)))
	defer log.SetOutput(before)
	log.Print("something else")
	for _, secure := range []bool{false, true} {
		s := scripted(t, secure, func(c net.Conn, _ *http.Request) {
			c.Write([]byte(answerHead + chunk(token("a")) + chunk(stop) + chunk(doneTxt) + lastOne + "GARBAGE\r\n"))
			c.Read(make([]byte, 1))
		})
		k := newClient(t, Config{URL: s.URL + "/v1", Insecure: true})
		for range 50 {
			a := k.Do(t.Context(), &Request{Stream: true})
			// Where the next request was written first, they are taken for the head of its answer.
			head := a.Class == Protocol && strings.Contains(a.Reason, "malformed HTTP response")
			if a.Class != "" && !head && (a.Class != Write || a.Reason != spoke) {
				t.Errorf("TLS %v: %q %s", secure, a.Class, a.Reason)
			}
		}
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	if !strings.Contains(all.String(), unsolicited) {
		t.Error("net/http says it in other words: see Log")
	}
	passed.mu.Lock()
	defer passed.mu.Unlock()
	if got := passed.String(); !strings.Contains(got, "something else") || strings.Contains(got, unsolicited) {
		t.Errorf("passed on: %q", got)
	}
}
