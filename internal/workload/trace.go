package workload

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ridgeline/ridgeline/internal/input"
)

// Open reads a trace from a file, see Read.
func Open(path string) (*Workload, error) {
	f, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path)
}

// Read reads a trace, gzip-compressed or not, in one of the formats
//
//   - CSV with the columns TIMESTAMP, ContextTokens, GeneratedTokens: the Azure
//     LLM inference trace of 2023;
//   - JSON lines with timestamp (ms), input_length, output_length and hash_ids
//     of blocks of 512 tokens: the Mooncake traces;
//   - JSON lines with request_id, input_toks, output_toks and queued_ts (s): time
//     stamps of an engine's requests;
//   - JSON lines that WriteRecords wrote.
//
// The first line decides. Columns and keys that are not listed are ignored. Any
// line that is not understood, or earlier than the one before, is an error that
// names it, and an empty trace is one too: a trace is read whole or not at all.
// name is what complaints call the file.
func Read(r io.Reader, name string) (*Workload, error) {
	b := bufio.NewReader(r)
	packed := &unpacking{}
	if magic, _ := b.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: give a whole gzip file", name, err)
		}
		packed.Reader = z
		b = bufio.NewReader(packed)
	}
	if mark, _ := b.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		if _, err := b.Discard(len(mark)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		if m, _ := b.Peek(2); string(m) == mark {
			return nil, fmt.Errorf("%s: the text is UTF-16: give it in UTF-8", name)
		}
	}
	first, err := b.Peek(1)
	if err == io.EOF {
		return nil, fmt.Errorf("%s: the trace is empty: give one with at least one request", name)
	}
	t := &trace{name: name}
	if err != nil {
		return nil, t.unread(0, err)
	}
	switch first[0] {
	case '{':
		err = t.readJSON(b)
	case '[':
		err = t.fail(1, "a JSON array: give one object on each line, as jq -c '.[]' writes them")
	default:
		err = t.readCSV(b)
	}
	switch {
	case err == nil:
	case packed.err != nil:
		return nil, fmt.Errorf("%s: damaged gzip data: the file is cut short, or bytes stand behind or within them: copy it again", name)
	case packed.Reader == nil && strings.HasSuffix(strings.ToLower(name), ".gz"):
		return nil, fmt.Errorf("%w; the file is no gzip data, though its name says so: copy it again, or rename it", err)
	default:
		return nil, err
	}
	if len(t.w.Requests) == 0 {
		return nil, fmt.Errorf("%s: the trace holds no request: give one with at least one", name)
	}
	t.w.Name = name
	return &t.w, nil
}

// unpacking is gzip data that are being read; err is what is wrong with them. Readers of lines take
// what came before for a line.
type unpacking struct {
	io.Reader
	err error
}

func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	if err != nil && err != io.EOF {
		u.err = err
	}
	return n, err
}

// trace is a trace that is being read.
type trace struct {
	name string
	w    Workload
}

// fail is the error of a line, counted from 1.
func (t *trace) fail(line int, format string, args ...any) error {
	return fmt.Errorf("%s, line %d: %s", t.name, line, fmt.Sprintf(format, args...))
}

// unread is the error of a file that cannot be read on after some lines.
func (t *trace) unread(after int, err error) error {
	return t.fail(after+1, "%v", err)
}

// jsonText words a complaint of the JSON reader without the names of Go's types.
func jsonText(err error) string {
	var of *json.UnmarshalTypeError
	if errors.As(err, &of) && of.Field != "" {
		if strings.HasPrefix(of.Value, "number") {
			return fmt.Sprintf("%s is the %s: give a whole number in digits, or text where the key is one", of.Field, of.Value)
		}
		return fmt.Sprintf("%s is a %s: give a number, or text where the key is one", of.Field, of.Value)
	}
	return fmt.Sprintf("%v: give one JSON object per line", err)
}

// maxSpan bounds a trace's time stamps: three years, far from what a clock in
// nanoseconds holds.
const maxSpan = 3 * 365 * 24 * time.Hour

// add checks one request and keeps it.
func (t *trace) add(line int, r Request) error {
	rs := t.w.Requests
	switch {
	case r.Input < 1 || r.Input > MaxTokens:
		return t.fail(line, "%d prompt tokens: must be 1 to %d", r.Input, MaxTokens)
	case r.Output < 1 || r.Output > MaxTokens:
		return t.fail(line, "%d tokens to generate: must be 1 to %d", r.Output, MaxTokens)
	case len(rs) > 0 && r.At < rs[len(rs)-1].At:
		return t.fail(line, "arrives before the line above: sort the trace by time")
	case r.At < 0 || r.At > maxSpan:
		return t.fail(line, "arrives %v after the first request: must be within %v", r.At, maxSpan)
	case len(rs) == MaxRequests:
		return t.fail(line, "more than %d requests: cut the trace", MaxRequests)
	}
	r.Line = line
	t.w.Requests = append(rs, r)
	return nil
}
