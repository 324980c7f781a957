package emulate

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ridgeline/ridgeline/internal/workload"
)

// exchange is one request and its answer.
type exchange struct {
	s       *Server
	w       http.ResponseWriter
	r       *http.Request
	kind    kind
	body    *body
	fault   *Fault        // nil: none
	held    time.Duration // until when a fault held the answer up
	garbled bool          // garbage went out in the middle of the answer
	record  *Record
	answer  *answer
	number  uint64 // of the request, from which its text is made
	length  int    // tokens of the answer
	finish  string // why it ends
	buf     []byte // what is to be written
}

// Lengths of answers whose client names none: of a completion OpenAI's default, of
// a chat some paragraphs.
const (
	defaultCompletion = 16
	defaultChat       = 256
)

// complete answers a request of either kind.
func (s *Server) complete(w http.ResponseWriter, r *http.Request, k kind) {
	s.underway.RLock()
	defer s.underway.RUnlock()
	x := &exchange{s: s, w: w, r: r, kind: k, number: s.draws.next()}
	x.record = &Record{ID: x.id(), Kind: k.String(), Received: s.since().Seconds()}
	defer x.close()
	var wrong error
	var prompt content
	if x.body, prompt, wrong = read(r, k); wrong != nil {
		x.reject(http.StatusBadRequest, "BadRequestError", wrong.Error())
		return
	}
	x.record.Stream, x.record.PromptTokens = x.body.Stream, prompt.tokens()
	if name := x.body.Model; name != "" && !strings.EqualFold(name, s.config.Model) {
		x.reject(http.StatusNotFound, "NotFoundError", fmt.Sprintf("The model `%s` does not exist: this is `%s`.", name, s.config.Model))
		return
	}
	if x.fault = s.draws.fault(s.config.Faults); x.fault != nil && x.fails() {
		return
	}
	x.lengths()
	x.record.MaxTokens = x.length
	req := workload.Request{ID: x.record.ID, Input: prompt.tokens(), Output: x.length, Priority: x.body.Priority}
	if e := &s.config.Service.Engine; e.PrefixCache {
		req.Blocks = prompt.blocks(e.BlockSize)
	}
	a, taken, err := s.engine.submit(req)
	switch {
	case err != nil:
		x.reject(http.StatusInternalServerError, "InternalServerError", err.Error())
		return
	case taken.Outcome == workload.Dropped:
		x.reject(http.StatusBadRequest, "BadRequestError", fmt.Sprintf("prompt of %d tokens and max_tokens %d: %s", req.Input, req.Output, taken.Reason))
		return
	}
	x.answer = a
	if x.body.Stream {
		x.stream()
	} else {
		x.whole()
	}
}

// lengths decides how long the answer is and why it ends.
func (x *exchange) lengths() {
	x.finish = "length"
	ends := 0 // tokens after which it ends by itself
	switch limit := x.body.limit(); {
	case limit != nil:
		x.length = *limit
	case x.kind == chat:
		x.length, ends = max(x.body.MinTokens, defaultChat), defaultChat
	default:
		x.length = max(x.body.MinTokens, defaultCompletion)
	}
	if x.s.config.Answer != (workload.Length{}) {
		ends = x.s.draws.length(x.s.config.Answer)
		if x.body.limit() == nil {
			x.length = max(x.body.MinTokens, ends)
		}
	}
	if ends = max(ends, x.body.MinTokens); ends > 0 && !x.body.IgnoreEOS && x.natural() && ends <= x.length {
		x.length, x.finish = ends, "stop"
	}
}

// natural tells whether answers end by themselves.
func (x *exchange) natural() bool {
	return x.s.config.Answer != (workload.Length{}) || x.body.limit() == nil && x.kind == chat
}

// id is the answer's: the client's X-Request-Id where it sent one, as in vLLM.
func (x *exchange) id() string {
	own := x.r.Header.Get("X-Request-Id")
	if own == "" {
		own = strconv.FormatUint(x.number, 16)
	}
	return [...]string{"chatcmpl-", "cmpl-"}[x.kind] + own
}

// reject refuses what the client asked for.
func (x *exchange) reject(status int, kind, message string) {
	x.record.Outcome, x.record.Status = Rejected, status
	refuse(x.w, status, kind, message)
}

// close completes the record and hands it out.
func (x *exchange) close() {
	s, rec := x.s, x.record
	rec.End = s.since().Seconds()
	if x.answer != nil {
		if rec.Outcome != Done {
			s.engine.cancel(x.answer)
		}
		sim := s.engine.look(x.answer)
		rec.simulated(&sim, func(t time.Duration) float64 { return s.engine.wall(t).Seconds() })
		s.meter.ended(rec, s.config.Speed)
	}
	s.meter.count(rec.Outcome)
	if s.config.Observe != nil {
		s.config.Observe(rec)
	}
}

// wait blocks until tokens came; false where the client has gone, or the server
// stops.
func (x *exchange) wait() bool {
	select {
	case <-x.answer.more:
		return true
	case <-x.r.Context().Done():
		x.gone()
		return false
	}
}

// gone notes that the client is; one that leaves after garbage does so because of it.
func (x *exchange) gone() {
	if x.record.Outcome = Cancelled; x.garbled {
		x.record.Outcome = Faulted
	}
}

// sleep holds the answer up; false where the client has gone meanwhile.
func (x *exchange) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-x.r.Context().Done():
		x.gone()
		return false
	}
}

// whole answers in one document when the last token has come.
func (x *exchange) whole() {
	var due []given
	got, last := 0, given{}
	for got < x.length {
		if !x.wait() {
			return
		}
		due = x.answer.fetch(due)
		for _, last = range due {
			got += last.n
		}
	}
	if x.fault != nil && !x.midway() {
		return
	}
	var said, thought []byte
	for i := range x.length {
		if i < x.thoughts() {
			thought = word(thought, x.number, i)
		} else {
			said = word(said, x.number, i)
		}
	}
	choice := map[string]any{"index": 0, "logprobs": nil, "finish_reason": x.finish}
	if x.kind == chat {
		m := map[string]any{"role": "assistant", "content": string(said)}
		if thought != nil {
			m["reasoning_content"] = string(thought)
		}
		choice["message"] = m
	} else {
		choice["text"] = string(said)
	}
	doc, err := json.Marshal(map[string]any{"id": x.record.ID, "object": [...]string{"chat.completion", "text_completion"}[x.kind],
		"created": time.Now().Unix(), "model": x.s.config.Model, "choices": []any{choice}, "usage": json.RawMessage(x.usage(nil, x.length))})
	if err != nil {
		panic(err) // plain texts and numbers
	}
	x.w.Header().Set("Content-Type", "application/json")
	x.w.Header().Set("Content-Length", strconv.Itoa(len(doc)))
	x.written(x.length, last.at)
	x.record.Headers = x.record.FirstChunk
	x.record.Status, x.record.Finish = http.StatusOK, x.finish
	if _, err := x.w.Write(doc); err != nil {
		x.record.Outcome = Cancelled
		return
	}
	x.record.Outcome = Done
}

// thoughts is the tokens of the answer that go to the reasoning channel.
func (x *exchange) thoughts() int {
	if x.kind != chat {
		return 0
	}
	return min(x.s.config.Reasoning, x.length)
}

// usage adds the usage object with n tokens generated.
func (x *exchange) usage(to []byte, n int) []byte {
	in := x.record.PromptTokens
	to = fmt.Appendf(to, `{"prompt_tokens":%d,"total_tokens":%d,"completion_tokens":%d`, in, in+n, n)
	if t := x.thoughts(); t > 0 {
		to = fmt.Appendf(to, `,"completion_tokens_details":{"reasoning_tokens":%d}`, min(t, n))
	}
	return append(to, '}')
}
