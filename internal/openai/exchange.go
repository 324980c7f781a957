package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ridgeline/ridgeline/internal/wire"
)

// exchange is one request under way.
type exchange struct {
	client  *Client
	request *Request
	answer  *Answer
	give    context.CancelCauseFunc
	began   time.Duration

	mu      sync.Mutex // of what the transport's goroutines write
	sent    time.Duration
	headers time.Duration
	conn    Connection
	noTLS   bool // the handshake failed
	steps   map[string]time.Duration
	taker   wire.Taker // the connection, nil where its bytes cannot be taken

	done            bool // [DONE] came
	withChoice      int  // tokens counted up to the last event that had a choice
	thought         thought
	text, reasoning strings.Builder
}

// Do sends one request and reads its answer to the end. It never repeats one: the
// transport does so only where a kept connection turns out closed before a byte
// was written, which no service sees. What went wrong is in the Answer's Class.
func (c *Client) Do(ctx context.Context, r *Request) *Answer {
	ctx, give := context.WithCancelCause(ctx)
	defer give(nil)
	x := &exchange{client: c, request: r, answer: &Answer{Answer: -1}, give: give, began: c.now(), steps: map[string]time.Duration{}}
	err := x.run(ctx)
	a := x.answer
	x.mu.Lock()
	a.Sent, a.Connection = x.sent, x.conn
	if a.Headers = x.headers; a.Status == 0 {
		a.Headers = 0
	}
	noTLS := x.noTLS && x.sent == 0
	x.mu.Unlock()
	a.Text, a.Reasoning, a.Finish = x.text.String(), x.reasoning.String(), c.clean(a.Finish)
	if a.End == 0 {
		a.End = c.now()
	}
	x.countChunks()
	if err != nil {
		if a.Class, a.Reason = c.classify(ctx, err, a); noTLS && a.Class != Interrupted {
			a.Class = TLS
		}
	}
	return a
}

// came is when the bytes that were read last came, as the connection tells; one that does not tell has
// brought them just now.
func (x *exchange) came() time.Duration {
	at := x.client.now()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.taker == nil {
		wire.Doubt(0)
		return at
	}
	return x.taker.Came().Sub(x.client.start)
}

// countChunks fills in the tokens of chunks where as many came as tokens: one each. Counts that came with
// chunks hold only where they lead to the count of the whole, but for a last token without text.
func (x *exchange) countChunks() {
	a := x.answer
	left := a.Usage.Completion - x.withChoice
	known := len(a.Chunks) > 0 && (x.withChoice == 0 || left == 0 || left == 1)
	for _, c := range a.Chunks {
		known = known && c.Tokens > 0
	}
	if a.Usage.Continuous = known && a.Usage.Known && x.request.Stream; known || !x.request.Stream {
		return
	}
	each := 0
	if a.Usage.Known && a.Usage.Completion == len(a.Chunks) {
		each = 1
	}
	for i := range a.Chunks {
		a.Chunks[i].Tokens = each
	}
}

func (x *exchange) run(ctx context.Context) error {
	c := x.client
	body, err := c.body(x.request)
	if err != nil {
		return err
	}
	head := time.AfterFunc(c.limits.Headers, func() {
		x.give(&outcome{SlowHeaders, fmt.Sprintf("no answer began within %v", c.limits.Headers)})
	})
	defer head.Stop()
	all := time.AfterFunc(c.limits.Total, func() {
		x.give(&outcome{Overtime, fmt.Sprintf("the answer was not over within %v", c.limits.Total)})
	})
	defer all.Stop()
	q, err := http.NewRequestWithContext(x.traced(ctx), http.MethodPost, c.target, bytes.NewReader(body))
	if err != nil {
		return err
	}
	q.GetBody = nil
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("User-Agent", c.config.Agent)
	if x.request.Stream {
		q.Header.Set("Accept", "text/event-stream")
	}
	if c.config.Key != "" {
		q.Header.Set("Authorization", "Bearer "+c.config.Key)
	}
	p, err := c.http.RoundTrip(q)
	if err != nil {
		return err
	}
	defer p.Body.Close()
	head.Stop()
	x.answer.Status = p.StatusCode
	if p.StatusCode < 200 || p.StatusCode > 299 {
		return x.refused(p)
	}
	x.answer.Began = true
	if x.request.Stream {
		return x.stream(ctx, p)
	}
	return x.whole(p)
}

// refused reads the complaint of an answer that is none.
func (x *exchange) refused(p *http.Response) error {
	const most = 64 << 10
	x.answer.RetryAfter = retryAfter(p.Header.Get("Retry-After"))
	said, _ := io.ReadAll(io.LimitReader(p.Body, most)) // half a complaint is a complaint
	text := ""
	if e, ok := parse(said); ok {
		text = x.client.complaint(&e)
	}
	class := HTTPStatus
	switch {
	case p.StatusCode == http.StatusTooManyRequests:
		class = RateLimited
	case p.StatusCode == http.StatusServiceUnavailable:
		class = Unavailable
	case p.StatusCode >= 300 && p.StatusCode < 400:
		class = Redirected
		switch u, err := p.Location(); {
		case err == nil:
			text = "to " + x.client.clean(u.Scheme+"://"+u.Host) + ": give that address as the URL"
		case !errors.Is(err, http.ErrNoLocation):
			text = "to what is no address"
		}
	}
	return &outcome{class, strings.TrimSpace(fmt.Sprintf("status %d %s", p.StatusCode, text))}
}

// retryAfter reads seconds or a date; 0 = not given.
func retryAfter(text string) time.Duration {
	const most = 24 * 3600 // a day: what is longer says nothing to a benchmark
	if s, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && s >= 0 {
		return time.Duration(min(s, most)) * time.Second
	}
	if t, err := http.ParseTime(text); err == nil {
		return min(max(time.Until(t), 0), most*time.Second)
	}
	return 0
}

// finished judges an answer that is whole.
func (x *exchange) finished() error {
	switch a := x.answer; {
	case a.Finish == "":
		return &outcome{NoFinish, "the answer has no finish_reason"}
	case len(a.Chunks) == 0:
		return &outcome{Empty, "the answer has no token"}
	}
	return nil
}

// whole reads an answer that is not streamed.
func (x *exchange) whole(p *http.Response) error {
	c := x.client
	text, err := io.ReadAll(io.LimitReader(p.Body, c.limits.Body+1))
	at := x.came()
	if err != nil {
		return err
	}
	if int64(len(text)) > c.limits.Body {
		return &outcome{TooLarge, fmt.Sprintf("the answer is longer than %d bytes", c.limits.Body)}
	}
	x.answer.End = at
	if err := x.take(at, nil, text); err != nil {
		return err
	}
	return x.finished()
}
