package openai

import (
	"bytes"
	"io"
	"net/http/httputil"
	"testing"
)

// Whatever the pieces, what the chunks hold comes out, and what is left begins with the
// line of the last chunk: the library's reader finds the end there.
func TestChunkedInPieces(t *testing.T) {
	var body bytes.Buffer
	w := httputil.NewChunkedWriter(&body)
	want := ""
	for _, s := range []string{"a", "data: {}\n\n", "\r\n", string(bytes.Repeat([]byte("long "), 100))} {
		io.WriteString(w, s)
		want += s
	}
	w.Close()
	body.WriteString("\r\n")
	for size := 1; size <= body.Len(); size++ {
		c, got, over := chunked{}, "", false
		var rest []byte
		for b := body.Bytes(); len(b) > 0 && !over; b = b[min(size, len(b)):] {
			var err error
			if rest, over, err = c.feed(b[:min(size, len(b))], func(d []byte) error { got += string(d); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if got != want || !over || !bytes.HasPrefix(rest, []byte("0\r\n")) {
			t.Fatalf("pieces of %d: %q, over %v, left %q", size, got, over, rest)
		}
	}
}

func TestChunkedLeavesWhatIsNone(t *testing.T) {
	for text, left := range map[string]string{"3;x=y\r\nabc\r\n": "3;x=y\r\nabc\r\n", "zz\r\n": "zz\r\n", "3\nabc": "3\nabc", "123456789\r\nx": "123456789\r\nx"} {
		c := chunked{}
		rest, over, err := c.feed([]byte(text), func([]byte) error { t.Errorf("%q has data", text); return nil })
		if !over || err != nil || string(rest) != left {
			t.Errorf("%q: left %q, %v, %v", text, rest, over, err)
		}
	}
	c := chunked{}
	if _, over, err := c.feed([]byte("1\r\nabc"), func([]byte) error { return nil }); !over || err != errChunk {
		t.Errorf("a chunk longer than it says: %v", err)
	}
}
