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
	data  []byte // of the event so far: one line within what is read, as most events have, or kept
	kept  []byte // data of several lines, or from earlier reads
	has   bool   // the event has data, perhaps an empty one
	owned bool   // data is kept
	kind  []byte // the event field
	cr    bool   // the last line ended in CR: a LF that follows belongs to it
	begun bool   // past the byte order mark
	field bool   // a line of a stream of events came
	other bool   // a line of something else came
	limit int    // bytes of one event
}

// feed takes what one read brought and calls each with the kind and the data of
// every event that is whole; both are valid during the call only. It stops at the
// first error.
func (e *events) feed(b []byte, each func(kind, data []byte) error) error {
	rest := b
	if len(e.buf) > 0 || !e.begun {
		e.buf = append(e.buf, b...)
		rest = e.buf
	}
	if !e.begun {
		if len(e.buf) < len(mark) && bytes.HasPrefix([]byte(mark), e.buf) {
			return nil // perhaps half of the mark
		}
		rest, e.begun = bytes.TrimPrefix(e.buf, []byte(mark)), true
	}
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
	e.keep()
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
		e.data, e.kind, e.has, e.owned = nil, e.kind[:0], false, false
		return err
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		e.add(value, "\n")
	case "event":
		e.kind = append(e.kind[:0], value...)
	case "error": // llama.cpp's way to say that it failed
		e.kind = append(e.kind[:0], "error"...)
		e.add(value, "")
	case "", "id", "retry": // a comment, and what no answer needs
	default:
		e.other = true
		return nil
	}
	e.field = true
	if len(e.data) > e.limit {
		return errEventTooLong
	}
	return nil
}

// add takes one more value of the event's data, after what parts it from those before.
func (e *events) add(value []byte, apart string) {
	if !e.has {
		e.data, e.has = value, true
		return
	}
	e.keep()
	e.kept = append(append(e.kept, apart...), value...)
	e.data = e.kept
}

// keep makes data outlast what was read.
func (e *events) keep() {
	if e.has && !e.owned {
		e.kept = append(e.kept[:0], e.data...)
		e.data, e.owned = e.kept, true
	}
}

// held is the bytes of an event that is not whole.
func (e *events) held() int { return len(e.buf) + len(e.data) }

// half tells whether the stream ended within an event.
func (e *events) half() bool { return e.has || len(bytes.TrimSpace(e.buf)) > 0 }

// spoke tells whether what came may be a stream of events: some line was of one, or the only
// one, which is not whole, begins like one.
func (e *events) spoke() bool {
	if e.field || e.other {
		return e.field
	}
	rest := bytes.TrimSpace(e.buf)
	for _, name := range []string{"data:", "event:", "id:", "retry:", "error:", ":"} {
		if n := min(len(name), len(rest)); string(rest[:n]) == name[:n] {
			return true
		}
	}
	return false
}
