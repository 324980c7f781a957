package openai

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
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
	var (
		record tls.RecordHeaderError
		alert  tls.AlertError
		verify *tls.CertificateVerificationError
		host   x509.HostnameError
		dial   *net.OpError
		dns    *net.DNSError
	)
	switch {
	case errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &verify) || errors.As(err, &host):
		return TLS, text
	case errors.As(err, &dns) || errors.As(err, &dial) && dial.Op == "dial":
		return Connect, text
	case a.Status == 0 && a.Sent == 0 && a.Connection.Connect > 0 && a.Connection.TLS == 0 && c.secure():
		return TLS, text // the handshake ended in a closed connection
	case a.Status == 0 && a.Sent == 0:
		return Write, text
	}
	return Reset, text
}

func (c *Client) secure() bool { return len(c.target) > 5 && c.target[:5] == "https" }
