package openai

import (
	"bytes"
	"errors"
)

// errEventTooLong is an event over the limit.
var errEventTooLong = errors.New("one event is longer than the limit")

// mark is the byte order mark that may begin a stream.
const mark = "\xef\xbb\xbf"

// events cuts a stream of server-sent events (WHATWG HTML, section 9.2) into
// their data, wherever reads split it: lines end in LF, CR LF or CR, a field ends
// at its first colon, one space after that is no part of the value, lines that
// begin with a colon are comments, and a blank line ends the event.
type events struct {
	buf   []byte // bytes read that are no whole line yet
	scan  int    // of buf, searched for a line end already
	data  []byte // data lines of the event so far
	has   bool   // the event has data, perhaps an empty one
	kind  []byte // the event field
	cr    bool   // the last line ended in CR: a LF that follows belongs to it
	begun bool   // past the byte order mark
	limit int    // bytes of one event
}

// feed takes what one read brought and calls each with the kind and the data of
// every event that is whole; both are valid during the call only. It stops at the
// first error.
func (e *events) feed(b []byte, each func(kind, data []byte) error) error {
	e.buf = append(e.buf, b...)
	if !e.begun {
		if len(e.buf) < len(mark) && bytes.HasPrefix([]byte(mark), e.buf) {
			return nil // perhaps half of the mark
		}
		e.buf, e.begun = bytes.TrimPrefix(e.buf, []byte(mark)), true
	}
	rest := e.buf
	for {
		if e.cr && len(rest) > 0 {
			if e.cr = false; rest[0] == '\n' {
				rest, e.scan = rest[1:], max(e.scan-1, 0)
			}
		}
		i := lineEnd(rest[e.scan:])
		if i < 0 {
			e.scan = len(rest)
			break
		}
		i += e.scan
		line := rest[:i]
		e.cr, e.scan = rest[i] == '\r', 0
		rest = rest[i+1:]
		if err := e.line(line, each); err != nil {
			return err
		}
	}
	e.buf = append(e.buf[:0], rest...)
	if e.held() > e.limit {
		return errEventTooLong
	}
	return nil
}

// lineEnd is the index of the first CR or LF, -1 without one.
func lineEnd(b []byte) int {
	i := bytes.IndexByte(b, '\n')
	if i >= 0 {
		b = b[:i]
	}
	if j := bytes.IndexByte(b, '\r'); j >= 0 {
		return j
	}
	return i
}

func (e *events) line(line []byte, each func(kind, data []byte) error) error {
	if len(line) == 0 {
		if !e.has {
			e.kind = e.kind[:0]
			return nil
		}
		err := each(e.kind, e.data)
		e.data, e.kind, e.has = e.data[:0], e.kind[:0], false
		return err
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if e.has {
			e.data = append(e.data, '\n')
		}
		e.data, e.has = append(e.data, value...), true
	case "event":
		e.kind = append(e.kind[:0], value...)
	case "error": // llama.cpp's way to say that it failed
		e.kind = append(e.kind[:0], "error"...)
		e.data, e.has = append(e.data, value...), true
	}
	if len(e.data) > e.limit {
		return errEventTooLong
	}
	return nil
}

// held is the bytes of an event that is not whole.
func (e *events) held() int { return len(e.buf) + len(e.data) }

// half tells whether the stream ended within an event.
func (e *events) half() bool { return e.has || len(bytes.TrimSpace(e.buf)) > 0 }
