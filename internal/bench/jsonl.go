package bench

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/ridgeline/ridgeline/internal/openai"
)

// line is a record in a file. Its keys are those of the simulator's records where
// the two say the same thing, so that either can be replayed as a trace and both
// can be laid side by side; times are seconds since the start, null where the
// event did not happen.
type line struct {
	ID string `json:"id"`
	Origin
	Stage     int          `json:"stage"`
	Warmup    bool         `json:"warmup,omitempty"`
	Session   string       `json:"session,omitempty"`
	Turn      int          `json:"turn,omitempty"`
	Outcome   Outcome      `json:"outcome"`
	Class     openai.Class `json:"class,omitempty"`
	Reason    string       `json:"reason,omitempty"`
	Status    int          `json:"status"`
	Finish    string       `json:"finish_reason,omitempty"`
	Stream    bool         `json:"stream"`
	Input     int          `json:"input_tokens"`
	Output    int          `json:"output_tokens"`
	Generated int          `json:"generated_tokens"`
	Usage     *usageLine   `json:"usage"`

	Scheduled  *float64  `json:"scheduled_seconds"`
	Dispatched *float64  `json:"dispatched_seconds"`
	Sent       *float64  `json:"queued_seconds"` // sent: the service has it
	Headers    *float64  `json:"headers_seconds"`
	FirstEvent *float64  `json:"first_event_seconds"`
	First      *float64  `json:"first_token_seconds"`
	Last       *float64  `json:"last_token_seconds"`
	End        *float64  `json:"end_seconds"`
	Chunks     []float64 `json:"chunk_seconds"`
	Tokens     []int     `json:"chunk_tokens,omitempty"` // 0 = not known; left out where none is
	Answer     *int      `json:"answer_chunk"`           // index of the first that is no reasoning

	RetryAfter float64   `json:"retry_after_seconds,omitempty"`
	Connection *connLine `json:"new_connection,omitempty"` // null where it was reused
	Prompt     string    `json:"prompt,omitempty"`
	Text       string    `json:"text,omitempty"`
}

type usageLine struct {
	Prompt     int  `json:"prompt_tokens"`
	Completion int  `json:"completion_tokens"`
	Reasoning  int  `json:"reasoning_tokens"`
	Cached     int  `json:"cached_tokens"`
	Continuous bool `json:"continuous,omitempty"`
}

type connLine struct {
	DNS     float64 `json:"dns_seconds"`
	Connect float64 `json:"connect_seconds"`
	TLS     float64 `json:"tls_seconds"`
}

// RecordWriter writes records as JSON lines, each as soon as it is known.
type RecordWriter struct{ e *json.Encoder }

// NewRecordWriter writes to w, one write per record.
func NewRecordWriter(w io.Writer) *RecordWriter {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return &RecordWriter{e}
}

// Write writes one record.
func (w *RecordWriter) Write(r *Record) error {
	n, _ := r.Tokens()
	first, began := r.first()
	last, ended := r.last()
	l := line{ID: r.ID, Origin: *r.Origin, Stage: r.Stage, Warmup: r.Warmup, Session: r.Session, Turn: r.Turn,
		Outcome: r.Outcome, Class: r.Class, Reason: r.Reason, Status: r.Status, Finish: r.Finish, Stream: r.Stream,
		Input: r.Input, Output: r.Output, Generated: n,
		Scheduled: stamp(r.Scheduled, true), Dispatched: stamp(r.Dispatched, r.Dispatched > 0), Sent: stamp(r.Sent, r.Sent > 0),
		Headers: stamp(r.Headers, r.Headers > 0), FirstEvent: stamp(r.FirstEvent, r.FirstEvent > 0),
		First: stamp(first, began), Last: stamp(last, ended), End: stamp(r.End, r.End > 0),
		RetryAfter: r.RetryAfter.Seconds(), Prompt: r.Prompt, Text: r.Text, Chunks: []float64{}}
	known := false
	for _, c := range r.Chunks {
		l.Chunks, l.Tokens = append(l.Chunks, c.At.Seconds()), append(l.Tokens, c.Tokens)
		known = known || c.Tokens > 0
	}
	if !known {
		l.Tokens = nil
	}
	if r.Answer >= 0 {
		l.Answer = &r.Answer
	}
	if u := r.Usage; u.Known {
		l.Usage = &usageLine{u.Prompt, u.Completion, u.Reasoning, u.Cached, u.Continuous}
	}
	if c := r.Connection; !c.Reused && r.Sent > 0 {
		l.Connection = &connLine{c.DNS.Seconds(), c.Connect.Seconds(), c.TLS.Seconds()}
	}
	return w.e.Encode(&l)
}

func stamp(t Timestamp, happened bool) *float64 {
	if !happened {
		return nil
	}
	s := t.Seconds()
	return &s
}

// maxLine bounds one line: 100,000 chunks with their stamps take 2 MB.
const maxLine = 64 << 20

// Recorded is a file of records.
type Recorded struct {
	Name    string
	Records []*Record
	Cut     bool // it ends within a line, which is left out
}

// ReadRecords reads what a RecordWriter wrote. Any line that is not understood is
// an error that names it; a last line without its end is one that a killed run
// left half written, and is left out. name is what complaints call the file.
func ReadRecords(from io.Reader, name string) (*Recorded, error) {
	var list []*Record
	origins := map[Origin]*Origin{}
	s := bufio.NewScanner(from)
	s.Buffer(make([]byte, 1<<16), maxLine)
	var half error
	for n := 1; s.Scan(); n++ {
		if half != nil {
			return nil, half
		}
		l := line{Stage: -1}
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			half = fmt.Errorf("%s, line %d: %v: give the records that `bench --records` wrote", name, n, err)
			continue
		}
		r, err := l.record()
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		if o := l.Origin; origins[o] == nil {
			origins[o] = &o
		}
		r.Origin = origins[l.Origin]
		list = append(list, r)
	}
	if err := s.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("%s: a line is longer than %d bytes: give one request per line", name, maxLine)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(list) == 0 {
		if half != nil {
			return nil, half
		}
		return nil, fmt.Errorf("%s: no record: give a file that `bench --records` wrote", name)
	}
	return &Recorded{name, list, half != nil}, nil
}

// record is the record of a line; what no client can have written is an error.
func (l *line) record() (*Record, error) {
	r := &Record{ID: l.ID, Stage: l.Stage, Warmup: l.Warmup, Session: l.Session, Turn: l.Turn, Outcome: l.Outcome, Class: l.Class, Reason: l.Reason,
		Status: l.Status, Finish: l.Finish, Stream: l.Stream, Input: l.Input, Output: l.Output, Answer: -1, Prompt: l.Prompt, Text: l.Text}
	switch {
	case l.Stage < 0 || l.Stage > maxStages || l.Scheduled == nil || l.Run == "":
		return nil, errors.New("no stage, run or scheduled_seconds: give the records that `bench --records` wrote")
	case l.Outcome != OK && l.Outcome != Failed && l.Outcome != Truncated && l.Outcome != Cancelled:
		return nil, fmt.Errorf("outcome %.20q: must be ok, failed, truncated or cancelled", l.Outcome)
	case len(l.Tokens) > 0 && len(l.Tokens) != len(l.Chunks):
		return nil, fmt.Errorf("%d chunk_tokens for %d chunk_seconds: must be as many", len(l.Tokens), len(l.Chunks))
	case l.Input < 0 || l.Output < 0:
		return nil, errors.New("a token count below 0")
	}
	for _, x := range []struct {
		from *float64
		into *Timestamp
	}{{l.Scheduled, &r.Scheduled}, {l.Dispatched, &r.Dispatched}, {l.Sent, &r.Sent}, {l.Headers, &r.Headers}, {l.FirstEvent, &r.FirstEvent},
		{l.End, &r.End}, {&l.RetryAfter, &r.RetryAfter}} {
		if x.from == nil {
			continue
		}
		t, err := nanoseconds(*x.from)
		if err != nil {
			return nil, err
		}
		*x.into = t
	}
	sum := 0
	for i, s := range l.Chunks {
		t, err := nanoseconds(s)
		if err != nil {
			return nil, err
		}
		c := openai.Chunk{At: t}
		if len(l.Tokens) > 0 {
			c.Tokens = l.Tokens[i]
			if sum += c.Tokens; c.Tokens < 0 || c.Tokens > openai.MostCompletion || sum > openai.MostCompletion {
				return nil, fmt.Errorf("chunk_tokens: must be 0 or more, and %d in all at most", openai.MostCompletion)
			}
		}
		if i > 0 && t < r.Chunks[i-1].At {
			return nil, errors.New("chunk_seconds run backwards")
		}
		r.Chunks = append(r.Chunks, c)
	}
	if l.Answer != nil {
		if r.Answer = *l.Answer; r.Answer < 0 || r.Answer >= len(r.Chunks) {
			return nil, fmt.Errorf("answer_chunk %d of %d chunks", r.Answer, len(r.Chunks))
		}
	}
	if u := l.Usage; u != nil {
		if u.Prompt < 0 || u.Completion < 0 || u.Prompt > openai.MostPrompt || u.Completion > openai.MostCompletion {
			return nil, fmt.Errorf("usage: must be 0 or more tokens, at most %d of a prompt and %d of an answer", openai.MostPrompt, openai.MostCompletion)
		}
		r.Usage = openai.Usage{Known: true, Prompt: u.Prompt, Completion: u.Completion, Reasoning: u.Reasoning, Cached: u.Cached, Continuous: u.Continuous}
	}
	r.Connection.Reused = l.Connection == nil
	if c := l.Connection; c != nil {
		r.Connection = openai.Connection{DNS: seconds(c.DNS), Connect: seconds(c.Connect), TLS: seconds(c.TLS)}
	}
	return r, nil
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

// nanoseconds refuses what no clock of a run shows: a run takes days at most.
func nanoseconds(s float64) (Timestamp, error) {
	const year = 365 * 24 * 3600
	if !(s >= 0 && s <= year) {
		return 0, fmt.Errorf("%g seconds since the start: must be from 0 to %d", s, year)
	}
	return seconds(s), nil
}
