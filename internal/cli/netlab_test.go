package cli

import "testing"

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
}
