package openai

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// idleWatch gives an exchange up that is silent for too long. Its timer is not set
// anew for every chunk, which would cost as much as the chunk: it looks when it
// fires how long ago the last one was.
type idleWatch struct {
	timer *time.Timer
	last  atomic.Int64 // when bytes came last, on the client's clock; 0 = not yet
	over  atomic.Bool  // [DONE] came: only the end of the body is waited for
}

// watchIdle starts to watch. The head may come long before the first event: until
// then the queue decides, and the limit of heads holds.
func (c *Client) watchIdle(give context.CancelCauseFunc) *idleWatch {
	w := &idleWatch{}
	began := c.now()
	ready := make(chan struct{}) // the timer may fire before it is assigned
	w.timer = time.AfterFunc(min(c.limits.Idle, c.limits.Headers), func() {
		<-ready
		limit, since := c.limits.Idle, time.Duration(w.last.Load())
		if since == 0 {
			limit, since = max(c.limits.Headers, c.limits.Idle), began
		}
		if left := since + limit - c.now(); left > 0 && !w.over.Load() {
			w.timer.Reset(left)
			return
		}
		give(&outcome{Stall, fmt.Sprintf("no byte within %v", limit)})
	})
	close(ready)
	return w
}

// closing is how long the end of a body may take after [DONE], before its
// connection is given up and the next request makes a new one.
const closing = 250 * time.Millisecond
