package cli

import (
	"net"
	"testing"
)

func TestSameAddress(t *testing.T) {
	for _, x := range []struct {
		listen, to string
		want       bool
	}{
		{"127.0.0.1:9000", "127.0.0.1:9000", true}, {":9000", "127.0.0.1:9000", true}, {"0.0.0.0:9000", "localhost:9000", true},
		{"127.0.0.1:9000", "127.0.0.1:8000", false}, {"127.0.0.1:0", "127.0.0.1:8000", false}, {"127.0.0.1:9000", "10.0.0.1:9000", false}, {":9000", "10.0.0.1:9000", false},
	} {
		if got := sameAddress(x.listen, x.to); got != x.want {
			t.Errorf("listen on %s, to %s: %v", x.listen, x.to, got)
		}
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all { // of every network that the machine is on
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLinkLocalUnicast() && !sameAddress(":9000", net.JoinHostPort(n.IP.String(), "9000")) {
			t.Errorf("listen on all, to %s: not told", n.IP)
		}
	}
}
