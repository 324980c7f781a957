package openai

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
)

// classify finds the class of an error of the exchange.
func (c *Client) classify(ctx context.Context, err error, a *Answer) (Class, string) {
	var o *outcome
	if errors.As(err, &o) {
		return o.class, o.reason
	}
	if ctx.Err() != nil {
		if errors.As(context.Cause(ctx), &o) { // one of the client's own limits
			return o.class, o.reason
		}
		return Interrupted, "given up by the client"
	}
	text := c.clean(err.Error())
	if strings.Contains(text, lostAfter) {
		text = spoke
	}
	var dial *net.OpError
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.EMFILE):
		return Connect, text + ": the client's own limit of open files, see ulimit -n"
	case errors.As(err, &dns) || errors.As(err, &dial) && dial.Op == "dial":
		return Connect, text
	case strings.Contains(text, "malformed HTTP"):
		// An answer came, though perhaps before the transport said that the request was sent.
		return Protocol, text
	case a.Status == 0 && a.Sent == 0:
		return Write, text
	case ofConnection(err):
		return Reset, text
	}
	return Protocol, text
}

// ofConnection tells an error of the connection from one of what came over it: net/http has
// types for the first, and texts alone for the second.
func ofConnection(err error) bool {
	const idle = "server closed idle connection" // net/http's errServerClosedIdle
	var system net.Error
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed} {
		if errors.Is(err, end) {
			return true
		}
	}
	return errors.As(err, &system) || strings.Contains(err.Error(), idle)
}
