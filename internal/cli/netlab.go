package cli

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/ask"
	"github.com/ridgeline/ridgeline/internal/netlab"
	"github.com/ridgeline/ridgeline/internal/report"
	"github.com/ridgeline/ridgeline/internal/serve"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// netlabFlags is a link as the user typed it.
type netlabFlags struct {
	delay, jitter [2]unit.Seconds // up, down
	rate          [2]unit.ByteRate
	seed          int64
}

func newNetlabCommand(env *Env) *cobra.Command {
	f := &netlabFlags{}
	var listen, to string
	cmd := &cobra.Command{
		Use:     "netlab",
		GroupID: groupMeasure,
		Short:   "Put a slower network between a client and a service",
		Long: `Carry TCP connections to a target over a link with delay, jitter and a rate, in a program of its
own: no root, no kernel support. Delays are one way; a value is for both directions, two with a
comma are for those to the target and back. A new connection costs the handshake's round trip
before its first byte. An interrupt stops it and prints what went through.

` + "`netlab hosts`" + ` makes two hosts of this machine instead (Linux, root).`,
		Example: `  ridgeline netlab --listen 127.0.0.1:9000 --to 127.0.0.1:8000 --delay 0.5ms
  ridgeline netlab --listen 127.0.0.1:9000 --to gpu-node:8000 --delay 2ms,1ms --jitter 0.1ms --rate 1Gb/s`,
		Args: positional(0, 0, ""),
	}
	fs := cmd.Flags()
	fs.StringVar(&listen, "listen", "127.0.0.1:0", "`ADDRESS` to take connections on; port 0 takes a free one")
	fs.StringVar(&to, "to", "", "`ADDRESS` that they are carried to")
	f.register(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := required(cmd, "to"); err != nil {
			return err
		}
		if err := hostPort("to", to); err != nil {
			return err
		}
		link, err := f.link()
		if err != nil {
			return err
		}
		if sameAddress(listen, to) {
			return usagef("--to %s is the address that is listened on, and connections would go round for ever: name the service's own", to)
		}
		p, err := netlab.Start(listen, to, link, uint64(f.seed))
		if err != nil {
			return badInput(fmt.Errorf("--listen %s: %w: give a free address such as 127.0.0.1:9000", listen, plainNet(err)))
		}
		fmt.Fprintf(env.Stderr, "ridgeline: %s leads to %s, an interrupt stops it\n", p.Addr(), to)
		<-cmd.Context().Done()
		if err := p.Close(); err != nil {
			return err
		}
		s := p.Stats()
		if *asJSON {
			return report.JSON(env.Stdout, report.NewNetlabDoc(to, link, s))
		}
		return env.print(func(p *report.Page) { report.Netlab(p, to, link, s) })
	}
	cmd.AddCommand(newHostsCommand(env))
	return cmd
}

// sameAddress tells whether connections to one address reach a listener on the other.
func sameAddress(listen, to string) bool {
	l, err := net.ResolveTCPAddr("tcp", listen)
	t, err2 := net.ResolveTCPAddr("tcp", to)
	if err != nil || err2 != nil || l.Port != t.Port || t.Port == 0 {
		return false // what is wrong with an address, whoever uses it says
	}
	all := l.IP == nil || l.IP.IsUnspecified()
	return l.IP.Equal(t.IP) || all && (t.IP == nil || t.IP.IsUnspecified() || t.IP.IsLoopback() || ownAddress(t.IP))
}

// ownAddress tells whether an address is one of this machine's.
func ownAddress(ip net.IP) bool {
	all, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(all, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip)
	})
}

// hostPort refuses what no connection can be made to.
func hostPort(flag, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		if _, err = net.LookupPort("tcp", port); port == "" || port == "0" {
			err = errors.New("no port")
		}
	}
	if err != nil {
		return usagef("--%s %q: give a host and a port of 1 to 65535, such as 127.0.0.1:8000", flag, address)
	}
	return nil
}

// register adds the flags of a link.
func (f *netlabFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.Var(ask.Quantity(&f.delay, pair(unit.ParseSeconds), "time", ""), "delay", "one way, such as 0.5ms, or 2ms,1ms to the target and back (default 0)")
	fs.Var(ask.Quantity(&f.jitter, pair(unit.ParseSeconds), "time", ""), "jitter", "by which a delay varies, uniformly, either way (default 0)")
	fs.Var(ask.Quantity(&f.rate, pair(unit.ParseByteRate), "rate", ""), "rate", "of all connections together, such as 1Gb/s (default: no limit)")
	countFlag(cmd, &f.seed, "seed", "of the jitter (default 0)")
}

// pair reads a value for both directions, or one for each.
func pair[T any](parse func(string) (T, error)) func(string) ([2]T, error) {
	return func(text string) (both [2]T, err error) {
		up, down, two := strings.Cut(text, ",")
		if both[0], err = parse(strings.TrimSpace(up)); err != nil {
			return both, err
		}
		both[1] = both[0]
		if two {
			both[1], err = parse(strings.TrimSpace(down))
		}
		return both, err
	}
}

// link is what the flags describe.
func (f *netlabFlags) link() (l netlab.Link, err error) {
	for i, s := range []*netlab.Shape{&l.Up, &l.Down} {
		if s.Delay, err = serve.Nanoseconds(f.delay[i]); err != nil {
			return l, usagef("--delay: %w", err)
		}
		if s.Jitter, err = serve.Nanoseconds(f.jitter[i]); err != nil {
			return l, usagef("--jitter: %w", err)
		}
		s.Rate = float64(f.rate[i])
	}
	return l, badInput(l.Check())
}

// hostsError tells what the user can mend from what failed.
func hostsError(err error) error {
	if errors.Is(err, netlab.ErrNoNetem) || errors.Is(err, netlab.ErrOtherSystem) {
		return badInput(err)
	}
	return err
}
