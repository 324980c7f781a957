package openai

import (
	"context"
	"errors"
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
	case a.Status == 0 && a.Sent == 0:
		return Write, text
	}
	return Reset, text
}
