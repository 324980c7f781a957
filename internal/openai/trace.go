package openai

import (
	"context"
	"crypto/tls"
	"net/http/httptrace"
	"time"

	"github.com/ridgeline/ridgeline/internal/wire"
)

// traced lets the transport stamp what only it sees.
func (x *exchange) traced(ctx context.Context) context.Context {
	now := x.client.now
	step := func(name string) {
		at := now()
		x.mu.Lock()
		x.steps[name] = at
		x.mu.Unlock()
	}
	took := func(name string, into *time.Duration) {
		at := now()
		x.mu.Lock()
		if from, ok := x.steps[name]; ok {
			*into = at - from
		}
		x.mu.Unlock()
	}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart:          func(httptrace.DNSStartInfo) { step("dns") },
		DNSDone:           func(httptrace.DNSDoneInfo) { took("dns", &x.conn.DNS) },
		ConnectStart:      func(_, _ string) { step("connect") },
		ConnectDone:       func(_, _ string, _ error) { took("connect", &x.conn.Connect) },
		TLSHandshakeStart: func() { step("tls") },
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			took("tls", &x.conn.TLS)
			x.mu.Lock()
			x.noTLS = err != nil
			x.mu.Unlock()
		},
		GotConn: func(i httptrace.GotConnInfo) {
			x.mu.Lock()
			if x.conn.Reused = i.Reused; i.Reused {
				x.conn = Connection{Reused: true}
			}
			x.taker, _ = i.Conn.(wire.Taker) // not within TLS
			x.mu.Unlock()
		},
		WroteHeaders: func() { step("written") }, // the body goes with them, or after them
		WroteRequest: func(i httptrace.WroteRequestInfo) { // right before the last write, or, of a long body, after it
			at := now()
			x.mu.Lock()
			if i.Err == nil && x.headers == 0 { // this goroutine may run only after the answer came
				x.sent = at
			}
			x.mu.Unlock()
		},
		GotFirstResponseByte: func() {
			at := x.came()
			x.mu.Lock()
			x.headers = at
			if x.taker != nil {
				if at := x.taker.Wrote(); !at.IsZero() { // by now the request is written
					x.sent = at.Sub(x.client.start)
				}
			} else if x.sent == 0 { // the answer was faster than the goroutine that tells of the request
				x.sent = x.steps["written"]
			}
			x.mu.Unlock()
		},
	})
}
