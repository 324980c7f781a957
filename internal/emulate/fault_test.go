package emulate

import (
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Every way to fail ends as it says, streamed and whole.
func TestFaults(t *testing.T) {
	type client struct {
		reply
		list []event
		done bool
	}
	for kind, check := range map[string]func(c *client, stream bool) bool{
		"429=1:3s": func(c *client, _ bool) bool {
			return c.status == http.StatusTooManyRequests && c.header.Get("Retry-After") == "3"
		},
		"503=1": func(c *client, _ bool) bool {
			return c.status == http.StatusServiceUnavailable && c.header.Get("Retry-After") == "1"
		},
		"500=1":   func(c *client, _ bool) bool { return c.status == http.StatusInternalServerError },
		"reset=1": func(c *client, _ bool) bool { return errors.Is(c.err, syscall.ECONNRESET) || errors.Is(c.err, io.EOF) },
		"truncate=1": func(c *client, stream bool) bool {
			return c.err == nil && !c.done && (!stream && c.body == "" || stream && len(c.list) > 0 && c.list[len(c.list)-1].Choices[0].Finish == nil)
		},
		"half-event=1": func(c *client, _ bool) bool { return c.err == nil && strings.HasSuffix(c.body, `data: {"id":"`) },
		"garbage=1": func(c *client, _ bool) bool {
			return c.status == http.StatusOK && strings.Contains(c.body, "\xff\xfe]}")
		},
		"error=1":      func(c *client, _ bool) bool { return strings.Contains(c.body, "a fault on demand") },
		"stall=1:20ms": func(c *client, stream bool) bool { return c.err == nil && strings.Count(c.body, "length") == 1 },
		"slow-headers=1:20ms": func(c *client, stream bool) bool {
			return c.err == nil && c.status == http.StatusOK && strings.Count(c.body, "length") == 1
		},
	} {
		faults, err := ParseFaults(kind)
		if err != nil {
			t.Fatal(err)
		}
		for _, stream := range []string{"true", "false"} {
			s := start(t, Config{Service: service(1e-3), Faults: faults})
			c := &client{reply: s.post(t, "/v1/completions", `{"prompt": "x", "max_tokens": 8, "stream": `+stream+`}`)}
			if kind == "truncate=1" && stream == "true" {
				c.list, c.done = events(t, c.body)
			}
			if !check(c, stream == "true") {
				t.Errorf("%s, stream %s: status %d, %v, %q", kind, stream, c.status, c.err, c.body)
			}
			r := s.all()
			want := Faulted
			if strings.HasPrefix(kind, "stall") || strings.HasPrefix(kind, "slow") || strings.HasPrefix(kind, "garbage") && stream == "true" {
				want = Done
			}
			name, _, _ := strings.Cut(kind, "=")
			if len(r) != 1 || r[0].Outcome != want || r[0].Fault != name {
				t.Errorf("%s: records %+v", kind, r[0])
			}
			if name == "stall" && stream == "true" && r[0].LastChunk-r[0].FirstChunk < 0.02 {
				t.Errorf("the stall of 20 ms took %g s at most", r[0].LastChunk-r[0].FirstChunk)
			}
		}
	}
}

// What a fault holds up is not late by that: the machine added nothing.
func TestFaultsAreNoLag(t *testing.T) {
	for _, kind := range []string{"stall=1:2s", "slow-headers=1:2s"} {
		faults, err := ParseFaults(kind)
		if err != nil {
			t.Fatal(err)
		}
		s := start(t, Config{Service: service(1e-3), Faults: faults})
		if r := s.post(t, "/v1/completions", `{"prompt": "x", "max_tokens": 8, "stream": true}`); r.err != nil {
			t.Fatal(r.err)
		}
		if x := s.Summary(); x.Chunks != 8 || x.LagP99 >= time.Second {
			t.Errorf("%s: %d chunks, p99 of their lag %v", kind, x.Chunks, x.LagP99)
		}
	}
}

func TestParseFaults(t *testing.T) {
	f, err := ParseFaults("503=1%:2s, stall=0.25")
	if err != nil || len(f) != 2 || f[0] != (Fault{"503", 0.01, 2 * time.Second}) || f[1] != (Fault{"stall", 0.25, 5 * time.Second}) {
		t.Errorf("%v, %v", f, err)
	}
	for _, bad := range []string{"", "503", "sulk=1%", "503=2", "503=-1%", "reset=1%:2s", "stall=1%:2h", "stall=1%:x", "503=60%,500=60%"} {
		if f, err := ParseFaults(bad); err == nil {
			t.Errorf("%q is read as %v", bad, f)
		}
	}
}

// Shares come out as asked, and no draw depends on what is drawn beside it.
func TestShares(t *testing.T) {
	f, err := ParseFaults("503=10%,reset=30%")
	if err != nil {
		t.Fatal(err)
	}
	d, again := newDraws(1), newDraws(1)
	n := map[string]float64{}
	const all = 20000
	for range all {
		x := d.fault(f)
		again.next()
		if y := again.fault(f); x != y {
			t.Fatalf("the same seed drew %v and %v", x, y)
		}
		if x != nil {
			n[x.Kind]++
		}
	}
	for kind, want := range map[string]float64{"503": 0.1, "reset": 0.3} {
		if got := n[kind] / all; math.Abs(got-want) > 4*math.Sqrt(want/all) {
			t.Errorf("%s for %.3f of requests, want %.1f", kind, got, want)
		}
	}
}

// A client that leaves after garbage was sent on demand left because of it.
func TestLeavingAfterGarbage(t *testing.T) {
	for garbled, want := range map[bool]Outcome{true: Faulted, false: Cancelled} {
		x := &exchange{record: &Record{}, garbled: garbled}
		if x.gone(); x.record.Outcome != want {
			t.Errorf("garbage %v: %s", garbled, x.record.Outcome)
		}
	}
}
