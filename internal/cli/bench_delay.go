package cli

import (
	"net"
	"net/url"

	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/netlab"
	"github.com/ridgeline/ridgeline/internal/serve"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// delayed runs every level once over each one-way delay, through a proxy of its
// own; no delay takes one too, so that the hop itself is in all of them. stop ends
// the proxies, and is never nil.
func delayed(c *bench.Config, delays []unit.Seconds) (stop func(), err error) {
	var proxies []*netlab.Proxy
	stop = func() {
		for _, p := range proxies {
			_ = p.Close() // a listener of this program's own
		}
	}
	if len(delays) == 0 {
		return stop, nil
	}
	u, err := url.Parse(c.Service.URL)
	switch {
	case err != nil:
		return stop, badInput(err)
	case c.Search != nil:
		return stop, usagef("--net-delay goes with a list of loads: leave --search out")
	}
	target := u.Host
	if u.Port() == "" {
		target = net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	levels := c.Levels
	c.Levels = nil
	for _, d := range delays {
		t, err := serve.Nanoseconds(d)
		if err != nil {
			return stop, usagef("--net-delay: %w", err)
		}
		p, err := netlab.Start("127.0.0.1:0", target, netlab.Both(netlab.Shape{Delay: t}), c.Seed)
		if err != nil {
			return stop, badInput(err)
		}
		proxies = append(proxies, p)
		for _, l := range levels {
			l.Dial, l.NetDelay = p.Dial, t.String()
			c.Levels = append(c.Levels, l)
		}
	}
	return stop, nil
}
