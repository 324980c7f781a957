package netlab

import (
	"bytes"
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"
)

// onHost is one side of TestHosts: b echoes one connection, a sends through it and
// sees the rate of the link.
func onHost(t *testing.T) {
	at := netip.AddrPortFrom(AddressB, 7000).String()
	if os.Getenv("NETLAB_HOST") == "server" {
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.(*net.TCPListener).SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(c, c); err != nil {
			t.Fatal(err)
		}
		c.Close()
		return
	}
	var c net.Conn
	var err error
	for range 200 { // until b listens
		if c, err = net.DialTimeout("tcp", at, 5*time.Second); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	sent := bytes.Repeat([]byte("ridgeline"), 500_000)
	go func() {
		c.Write(sent)
		c.(*net.TCPConn).CloseWrite()
	}()
	got, err := io.ReadAll(c)
	if err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("%d of %d bytes came back, %v", len(got), len(sent), err)
	}
	// 50 MB/s less what the bucket lets go at once.
	if least := time.Duration((float64(len(sent)) - leastBurst) / 50e6 * float64(time.Second)); time.Since(start) < least {
		t.Errorf("%v for %d bytes: the link's rate asks for %v", time.Since(start), len(sent), least)
	}
}
