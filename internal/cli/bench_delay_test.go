package cli

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/openai"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Every level comes once per delay, through a proxy that leads to the service.
func TestDelayedLevels(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	defer s.Close()
	c := &bench.Config{Service: openai.Config{URL: s.URL + "/v1"}, Levels: []bench.Level{{Concurrency: 1}, {Concurrency: 2}}}
	stop, err := delayed(c, []unit.Seconds{0, 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range c.Levels {
		got = append(got, l.NetDelay)
		u, err := url.Parse(l.URL)
		if err != nil || u.Path != "/v1" || l.URL == c.Service.URL {
			t.Fatalf("%s, %v", l.URL, err)
		}
		r, err := http.Get(l.URL)
		if err != nil || r.StatusCode != http.StatusTeapot {
			t.Fatalf("%v, %v", r, err)
		}
		r.Body.Close()
	}
	if len(got) != 4 || got[0] != "0s" || got[1] != "0s" || got[2] != "1ms" || got[3] != "1ms" {
		t.Errorf("delays %v", got)
	}
	last, _ := url.Parse(c.Levels[3].URL)
	stop()
	if c, err := new(net.Dialer).DialContext(context.Background(), "tcp", last.Host); err == nil {
		c.Close()
		t.Error("the proxy still listens")
	}
}

func TestDelayedNeedsAPlainService(t *testing.T) {
	for _, c := range []*bench.Config{{Service: openai.Config{URL: "https://x/v1"}}, {Service: openai.Config{URL: "http://x/v1"}, Search: &bench.Search{}}} {
		stop, err := delayed(c, []unit.Seconds{1e-3})
		stop()
		if err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}
