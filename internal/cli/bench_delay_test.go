package cli

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/openai"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Every level comes once per delay, through a proxy that leads to the service
// under the service's own address.
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
		client := &http.Client{Transport: &http.Transport{DialContext: l.Dial, DisableKeepAlives: true}}
		r, err := client.Get(c.Service.URL)
		if err != nil || r.StatusCode != http.StatusTeapot {
			t.Fatalf("%v, %v", r, err)
		}
		r.Body.Close()
	}
	if len(got) != 4 || got[0] != "0s" || got[1] != "0s" || got[2] != "1ms" || got[3] != "1ms" {
		t.Errorf("delays %v", got)
	}
	dial := c.Levels[3].Dial
	stop()
	if c, err := dial(t.Context(), "tcp", ""); err == nil {
		c.Close()
		t.Error("the proxy still listens")
	}
}

func TestDelaysNeedStages(t *testing.T) {
	stop, err := delayed(&bench.Config{Service: openai.Config{URL: "http://x/v1"}, Search: &bench.Search{}}, []unit.Seconds{1e-3})
	stop()
	if err == nil {
		t.Error("a search with delays was taken")
	}
}
