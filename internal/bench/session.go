package bench

import (
	"context"
	"fmt"
	"sync"

	"github.com/ridgeline/ridgeline/internal/openai"
)

// keeper holds the records of a stage.
type keeper struct {
	run    *run
	origin *Origin
	stage  int

	mu      sync.Mutex
	records []*Record
}

func (k *keeper) keep(r *Record) {
	k.mu.Lock()
	k.records = append(k.records, r)
	k.mu.Unlock()
	k.run.sink.put(r)
}

// session asks the turns of a task one after another; the first was due at the
// time, each later one when the answer before has come and the user has thought.
// It tells whether the last request had an answer. free is called when the last
// one is over.
func (r *run) session(ctx context.Context, stage int, l Level, k *keeper, t task, due Timestamp, warm func(int) bool, free func()) bool {
	if free != nil {
		defer free()
	}
	var history []openai.Message
	for i, q := range t.turns {
		if i > 0 {
			pause(ctx, r.c.Think)
			if ctx.Err() != nil {
				return true
			}
			due = r.now()
		}
		number := t.number + i
		ask, err := r.maker.request(q, number, stage, history)
		rec := &Record{ID: fmt.Sprintf("%d-%d", stage, number), Origin: k.origin, Stage: stage, Warmup: warm(number), Turn: i, Answer: -1,
			Input: q.input, Output: q.output, Stream: r.c.Stream, Scheduled: due, Dispatched: r.now()}
		if r.c.Worker != "" {
			rec.ID = r.c.Worker + "-" + rec.ID
		}
		if len(t.turns) > 1 {
			rec.Session = fmt.Sprintf("%d-%d", stage, t.number)
		}
		if i > 0 || q.text != "" {
			rec.Input = 0 // the history's tokens are not counted here
		}
		if err != nil { // a length that cannot be made was refused before the run
			rec.Outcome, rec.Class, rec.Reason, rec.End = Failed, "prompt", err.Error(), r.now()
			k.keep(rec)
			return false
		}
		answer := r.ask(ctx, l, ask, rec)
		k.keep(rec)
		if rec.Outcome != OK {
			return rec.Outcome == Cancelled || len(rec.Chunks) > 0
		}
		if i+1 < len(t.turns) {
			said := openai.Message{Role: "assistant", Content: answer.Text}
			if r.c.EchoReasoning {
				said.Reasoning = answer.Reasoning
			}
			history = append(ask.Messages, said)
		}
	}
	return true
}

// ask sends one request and fills in its record.
func (r *run) ask(ctx context.Context, l Level, q *openai.Request, rec *Record) *openai.Answer {
	r.live.sent()
	q.Seen = &r.live.tokens
	a := r.client(l).Do(ctx, q)
	rec.Class, rec.Reason, rec.Status, rec.Finish = a.Class, a.Reason, a.Status, a.Finish
	rec.Sent, rec.Headers, rec.FirstEvent, rec.End = a.Sent, a.Headers, a.FirstEvent, a.End
	rec.Chunks, rec.Answer, rec.Usage, rec.RetryAfter, rec.Connection = a.Chunks, a.Answer, a.Usage, a.RetryAfter, a.Connection
	rec.Outcome = outcomeOf(a)
	if !r.c.Keep {
		rec.Reason = withoutPrompt(rec.Reason, q)
	} else {
		rec.Prompt, rec.Text = q.Text, a.Text
		if n := len(q.Messages); n > 0 {
			rec.Prompt = q.Messages[n-1].Content
		}
		rec.Prompt, rec.Text = r.client(l).WithoutKey(rec.Prompt), r.client(l).WithoutKey(rec.Text)
	}
	r.live.done(rec)
	return a
}

// outcomeOf sorts the classes: an answer whose tokens began to come and that had
// no end is truncated; an error object says itself that the request failed.
func outcomeOf(a *openai.Answer) Outcome {
	switch {
	case a.Class == "":
		return OK
	case a.Class == openai.Interrupted:
		return Cancelled
	case a.Began && len(a.Chunks) > 0 && a.Class != openai.ErrorObject:
		return Truncated
	}
	return Failed
}
