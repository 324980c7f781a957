package workload

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"math"
	"time"
)

// MooncakeBlock is the tokens that one hash id of a Mooncake trace stands for.
const MooncakeBlock = 512

// maxLine bounds one line of JSON: a prompt of MaxTokens has 32,768 block ids.
const maxLine = 4 << 20

// line is what is read of a JSON line, whichever its format: absent keys stay nil.
type line struct {
	// Mooncake
	Timestamp    *float64 `json:"timestamp"` // ms
	InputLength  *int     `json:"input_length"`
	OutputLength *int     `json:"output_length"`
	HashIDs      []int64  `json:"hash_ids"`
	// an engine's time stamps
	RequestID  string   `json:"request_id"`
	InputToks  *int     `json:"input_toks"`
	OutputToks *int     `json:"output_toks"`
	QueuedTS   *float64 `json:"queued_ts"` // s
	// WriteRecords
	ID        string   `json:"id"`
	Input     *int     `json:"input_tokens"`
	Output    *int     `json:"output_tokens"`
	Scheduled *float64 `json:"scheduled_seconds"`
	Priority  int      `json:"priority"`
}

// lineFormat is one of the formats of JSON lines: how its keys are called and
// where line holds them.
type lineFormat struct {
	id, stamp, input, output string
	scale                    float64 // seconds per unit of the stamp
	fields                   func(l *line) (id string, stamp *float64, input, output *int)
}

var lineFormats = []lineFormat{
	{"", "timestamp", "input_length", "output_length", 1e-3,
		func(l *line) (string, *float64, *int, *int) { return "", l.Timestamp, l.InputLength, l.OutputLength }},
	{"request_id", "queued_ts", "input_toks", "output_toks", 1,
		func(l *line) (string, *float64, *int, *int) {
			return l.RequestID, l.QueuedTS, l.InputToks, l.OutputToks
		}},
	{"id", "scheduled_seconds", "input_tokens", "output_tokens", 1,
		func(l *line) (string, *float64, *int, *int) { return l.ID, l.Scheduled, l.Input, l.Output }},
}

func (t *trace) readJSON(r io.Reader) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 1<<16), maxLine)
	var format *lineFormat
	var start float64
	var ended []endedRequest
	n := 0
	for s.Scan() {
		n++
		var l line
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			return t.fail(n, "%s", jsonText(err))
		}
		if format == nil {
			if format = recognise(&l); format == nil {
				return t.fail(n, "none of the keys timestamp, queued_ts and scheduled_seconds: give a trace in one of the formats of docs/formats.md")
			}
		}
		own, err := benchRecord(s.Bytes(), format)
		if err != nil {
			return t.fail(n, "%s", jsonText(err))
		}
		if own.Run != "" && own.Warmup {
			continue
		}
		if l.Output != nil && *l.Output == 0 && own.Generated > 0 {
			l.Output = &own.Generated // the answer ended where it liked: replay what came
		}
		q, stamp, err := t.request(n, format, &l)
		if err != nil {
			return err
		}
		if own.Run != "" || len(ended) > 0 {
			ended = append(ended, endedRequest{q, stamp, n, own})
			continue
		}
		if len(t.w.Requests) == 0 {
			start = stamp
		}
		since := (stamp - start) * format.scale
		if math.Abs(since) > maxSpan.Seconds() {
			return t.fail(n, "%s %g lies more than %v from the first: give a trace of one clock", format.stamp, stamp, maxSpan)
		}
		q.At = time.Duration(math.Round(since * 1e9))
		if err := t.add(n, q); err != nil {
			return err
		}
	}
	if err := s.Err(); errors.Is(err, bufio.ErrTooLong) {
		return t.fail(n+1, "longer than %d bytes: give one request per line", maxLine)
	} else if err != nil {
		return t.unread(n, err)
	}
	return t.sorted(ended)
}

// recognise finds the format of the first line by its time stamp.
func recognise(l *line) *lineFormat {
	for i := range lineFormats {
		if _, stamp, _, _ := lineFormats[i].fields(l); stamp != nil {
			return &lineFormats[i]
		}
	}
	return nil
}

// request is the request of a line and its time stamp in the format's unit.
func (t *trace) request(n int, f *lineFormat, l *line) (q Request, at float64, err error) {
	id, stamp, input, output := f.fields(l)
	switch {
	case stamp == nil:
		return q, 0, t.fail(n, "no %s", f.stamp)
	case input == nil:
		return q, 0, t.fail(n, "no %s", f.input)
	case output == nil:
		return q, 0, t.fail(n, "no %s", f.output)
	}
	q = Request{ID: id, Input: *input, Output: *output, Priority: l.Priority}
	if l.HashIDs == nil {
		return q, *stamp, nil
	}
	if need := (*input + MooncakeBlock - 1) / MooncakeBlock; len(l.HashIDs) != need {
		return q, 0, t.fail(n, "%d hash_ids for %d tokens: blocks of %d tokens make %d", len(l.HashIDs), *input, MooncakeBlock, need)
	}
	t.w.BlockTokens = MooncakeBlock
	q.Blocks = make([]uint64, len(l.HashIDs))
	for i, h := range l.HashIDs {
		q.Blocks[i] = uint64(h)
	}
	return q, *stamp, nil
}
