package openai

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/ridgeline/ridgeline/internal/wire"
)

// Endpoint is which of the protocol's questions is asked.
type Endpoint string

// The endpoints.
const (
	Chat        Endpoint = "chat"
	Completions Endpoint = "completions"
)

// Limits bound one exchange; 0 = the default.
type Limits struct {
	Headers time.Duration // from the request's start to the answer's head (default 10 min: a long queue is no failure)
	Idle    time.Duration // without a byte, once the answer began (default 2 min)
	Total   time.Duration // of the whole exchange (default 1 h)
	Body    int64         // bytes of an answer (default 256 MiB)
	Event   int           // bytes of one event (default 4 MiB: log-probabilities make them long)
}

func (l Limits) filled() Limits {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&l.Headers, 10*time.Minute)
	set(&l.Idle, 2*time.Minute)
	set(&l.Total, time.Hour)
	if l.Body == 0 {
		l.Body = 256 << 20
	}
	if l.Event == 0 {
		l.Event = 4 << 20
	}
	return l
}

// Config is a service and how it is talked to.
type Config struct {
	URL      string // ends in /v1
	Model    string
	Endpoint Endpoint
	Key      string // of the API, sent in the Authorization header and nowhere else; "" = none
	Agent    string // User-Agent
	Limits   Limits
	// Reconnect makes a connection for every request instead of keeping them.
	Reconnect bool
	// Insecure accepts any certificate: for services that sign their own.
	Insecure bool
	// Dial replaces the way connections are made, nil = TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Client sends requests. It is safe for many goroutines.
type Client struct {
	config Config
	limits Limits
	target string
	start  time.Time // stamps count from here
	// http makes each exchange once: a redirect is reported, not followed, since it would carry
	// key and prompt elsewhere.
	http *http.Transport
}

// The buffers of a connection: they bound the memory of a thousand streams. Bodies
// longer than the write buffer go past it, and a read takes whatever has come.
const (
	writeBuffer = 8 << 10
	readBuffer  = 8 << 10
)

// New makes a client whose stamps count from start, which must have a monotonic
// reading.
func New(c Config, start time.Time) (*Client, error) {
	u, err := ParseURL(c.URL)
	if err != nil {
		return nil, err
	}
	path := "/chat/completions"
	if c.Endpoint == Completions {
		path = "/completions"
	}
	t := &http.Transport{
		Proxy:              http.ProxyFromEnvironment,
		DisableCompression: true, // a compressed stream holds chunks back
		DisableKeepAlives:  c.Reconnect,
		// Default pools keep two idle connections per host, and so make a client of
		// many streams connect anew for nearly every request.
		MaxIdleConns: 0, MaxIdleConnsPerHost: 1 << 16, MaxConnsPerHost: 0,
		IdleConnTimeout: 90 * time.Second,
		WriteBufferSize: writeBuffer, ReadBufferSize: readBuffer,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: c.Insecure}, // only where the user asks
		// HTTP/1.1: a stream has its connection to itself, as behind most gateways.
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
	}
	dial := c.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return wire.Conn(conn), nil
	}
	return &Client{config: c, limits: c.Limits.filled(), target: u.String() + path, start: start, http: t}, nil
}

// ParseURL reads the address of a service and drops a slash at its end. Names,
// passwords and queries within are refused, and not quoted: they would show up in
// reports and logs.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(text, "/"))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q is no URL: give the service's address such as http://localhost:8000/v1", withoutSecrets(text))
	case u.User != nil:
		return nil, fmt.Errorf("the URL holds a name or password: give the key in the environment or a file")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("%q is no address of a service: give one such as http://localhost:8000/v1", withoutSecrets(text))
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%q is followed by a query or fragment, which may hold a key: give the address up to /v1", withoutSecrets(text))
	}
	return u, nil
}

// withoutSecrets is what may be quoted of an address, even of one that cannot be
// parsed: neither user and password nor query and fragment.
func withoutSecrets(text string) string {
	if i := strings.IndexAny(text, "?#"); i >= 0 {
		text = text[:i]
	}
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return text
	}
	scheme, _, ok := strings.Cut(text[:at], "://")
	if !ok {
		return text[at+1:]
	}
	return scheme + "://" + text[at+1:]
}

// Close drops the connections that are kept.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Lateness is how late bytes of any client of this process were consumed at most since the last call,
// and how late times may have been taken of those that have no stamp of their own. own tells that there were
// such times, which are as late as any other goroutine, too.
func Lateness() (consumed, stamped time.Duration, own bool) { return wire.Lateness() }

// now is the time on the client's clock.
func (c *Client) now() time.Duration { return time.Since(c.start) }

// maxReason bounds what is kept of a service's complaint.
const maxReason = 200

// complaint is what an answer or event says of a failure, "" where it says nothing.
func (c *Client) complaint(e *event) string {
	for _, said := range []string{e.failure, e.message, e.detail} {
		if text := c.message(said); text != "" {
			return text
		}
	}
	return ""
}

// message is the complaint within an error object, or the object, without the key.
func (c *Client) message(said string) string {
	text := said
	if v := gjson.Parse(said); v.Type == gjson.String {
		text = v.Str
	} else if m := v.Get("message"); m.Str != "" {
		text = m.Str
	}
	return c.clean(text)
}

// WithoutKey puts a mark in the place of the service's key, for what is kept of a text.
func (c *Client) WithoutKey(text string) string {
	if c.config.Key == "" {
		return text
	}
	return strings.ReplaceAll(text, c.config.Key, "[key]")
}

// clean makes one short line without the key of what a service or the system said.
func (c *Client) clean(text string) string {
	r := []rune(strings.Join(strings.Fields(c.WithoutKey(text)), " "))
	if len(r) > maxReason {
		r = append(r[:maxReason], '…')
	}
	return string(r)
}
