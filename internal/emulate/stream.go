package emulate

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// stream answers chunk by chunk, as server-sent events.
func (x *exchange) stream() {
	h := x.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	x.record.Status = http.StatusOK
	x.record.Headers = x.s.since().Seconds()
	flush := http.NewResponseController(x.w).Flush
	if err := flush(); err != nil {
		x.gone()
		return
	}
	head := x.head()
	var due []given
	came, sent := 0, 0 // tokens of the answer that have come, and that chunks carry
	for sent < x.length {
		if !x.wait() {
			return
		}
		due = x.answer.fetch(due)
		x.buf = x.buf[:0]
		for _, g := range due {
			came += g.n
			if sent > 0 && came < x.length && came-sent < x.s.config.Interval {
				continue
			}
			if x.fault != nil && came > x.length/2 && !x.midway() {
				return
			}
			x.chunks(head, sent, came)
			x.written(came-sent, g.at)
			sent = came
		}
		if len(x.buf) == 0 {
			continue
		}
		if sent == x.length {
			x.tail(head)
		}
		_, err := x.w.Write(x.buf)
		if err == nil {
			err = flush()
		}
		if err != nil {
			x.gone()
			return
		}
	}
	x.record.Outcome, x.record.Finish = Done, x.finish
}

// head is how every event of the stream begins.
func (x *exchange) head() []byte {
	id, err := json.Marshal(x.record.ID)
	if err != nil {
		panic(err) // a text
	}
	model, err := json.Marshal(x.s.config.Model)
	if err != nil {
		panic(err)
	}
	return fmt.Appendf(nil, `data: {"id":%s,"object":"%s","created":%d,"model":%s,"choices":[`,
		id, [...]string{"chat.completion.chunk", "text_completion"}[x.kind], time.Now().Unix(), model)
}

// chunks adds the events that carry tokens from..to of the answer.
func (x *exchange) chunks(head []byte, from, to int) {
	if x.kind == text {
		x.chunk(head, `{"index":0,"text":"`, from, to, `"`)
		return
	}
	if from == 0 {
		x.buf = append(append(x.buf, head...), `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`+"\n\n"...)
	}
	if split := min(x.thoughts(), to); from < split {
		x.chunk(head, `{"index":0,"delta":{"reasoning_content":"`, from, split, `"}`)
		from = split
	}
	if from < to {
		x.chunk(head, `{"index":0,"delta":{"content":"`, from, to, `"}`)
	}
}

// chunk adds one event.
func (x *exchange) chunk(head []byte, before string, from, to int, after string) {
	b := append(append(x.buf, head...), before...)
	for i := from; i < to; i++ {
		b = word(b, x.number, i)
	}
	b = append(append(b, after...), `,"logprobs":null,"finish_reason":`...)
	if to == x.length {
		b = append(append(append(b, '"'), x.finish...), '"')
	} else {
		b = append(b, "null"...)
	}
	b = append(b, "}]"...)
	if x.body.StreamOptions.Continuous && x.body.StreamOptions.IncludeUsage {
		b = x.usage(append(b, `,"usage":`...), to)
	}
	x.buf = append(b, "}\n\n"...)
}

// tail adds what follows the last token.
func (x *exchange) tail(head []byte) {
	if x.body.StreamOptions.IncludeUsage {
		x.buf = append(append(x.buf, head...), `],"usage":`...)
		x.buf = append(x.usage(x.buf, x.length), "}\n\n"...)
	}
	x.buf = append(x.buf, "data: [DONE]\n\n"...)
}

// written stamps a chunk of n tokens, the last of which came at a time of the
// simulation, as it goes out. What a fault on demand held up is not late by that.
func (x *exchange) written(n int, at time.Duration) {
	now := x.s.since()
	x.s.meter.lag(now - max(x.s.engine.wall(at), x.held))
	x.record.chunk(now.Seconds(), n, x.s.config.Observe != nil)
}
