package emulate

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// Fault is one way to fail, and how often.
type Fault struct {
	Kind  string
	Share float64       // of requests
	Delay time.Duration // Retry-After, or how long it is silent
}

// Faults are drawn from for each request: one of them or none happens to it.
type Faults []Fault

// faultKinds are the ways to fail, and the delay of those that have one.
var faultKinds = []struct {
	name  string
	delay time.Duration
	what  string
}{
	{"429", time.Second, "too many requests, with Retry-After"},
	{"503", time.Second, "not available, with Retry-After"},
	{"500", 0, "an internal error"},
	{"slow-headers", 5 * time.Second, "the headers come late"},
	{"stall", 5 * time.Second, "silence in the middle of the answer"},
	{"reset", 0, "the connection is reset in the middle"},
	{"truncate", 0, "the answer ends early without an error"},
	{"half-event", 0, "the answer ends within an event"},
	{"garbage", 0, "bytes that are no event, then the rest"},
	{"error", 0, "an error object in the middle"},
}

// FaultKinds are the names that ParseFaults takes.
func FaultKinds() (names []string) {
	for _, k := range faultKinds {
		names = append(names, k.name)
	}
	return names
}

// ParseFaults reads KIND=SHARE[:TIME][,...], such as 503=1%:2s,reset=0.01.
func ParseFaults(s string) (Faults, error) {
	var all Faults
	sum := 0.0
	for _, part := range strings.Split(s, ",") {
		name, rest, ok := strings.Cut(strings.TrimSpace(part), "=")
		at := slices.IndexFunc(faultKinds, func(k struct {
			name  string
			delay time.Duration
			what  string
		}) bool {
			return k.name == name
		})
		if !ok || at < 0 {
			return nil, fmt.Errorf("fault %q: give KIND=SHARE such as 503=1%%:2s, KIND one of %s", part, strings.Join(FaultKinds(), ", "))
		}
		share, delay, timed := strings.Cut(rest, ":")
		f := Fault{Kind: name, Delay: faultKinds[at].delay}
		var err error
		if f.Share, err = unit.ParseFraction(share); err != nil {
			return nil, fmt.Errorf("fault %q: %w", part, err)
		}
		if timed {
			d, err := unit.ParseSeconds(delay)
			switch {
			case err != nil:
				return nil, fmt.Errorf("fault %q: %w", part, err)
			case f.Delay == 0:
				return nil, fmt.Errorf("fault %q: %s takes no time, leave :%s out", part, name, delay)
			case d > maxDelay:
				return nil, fmt.Errorf("fault %q: give at most %v s", part, float64(maxDelay))
			}
			f.Delay = time.Duration(float64(d) * float64(time.Second))
		}
		if sum += f.Share; sum > 1 {
			return nil, fmt.Errorf("faults %q: the shares add up to more than 1, and a request fails once", s)
		}
		all = append(all, f)
	}
	return all, nil
}

// maxDelay bounds a fault's delay: an hour.
const maxDelay unit.Seconds = 3600

// draws is the server's randomness: what is drawn for the n-th request depends on
// the seed and n, not on when it comes.
type draws struct {
	mu      sync.Mutex
	faults  *rand.Rand
	lengths *rand.Rand
	count   uint64
}

func newDraws(seed uint64) draws {
	return draws{faults: workload.Stream(seed, workload.Faults), lengths: workload.Stream(seed, workload.OutputLengths)}
}

// next numbers a request.
func (d *draws) next() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count++
	return d.count
}

func (d *draws) length(l workload.Length) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return l.Draw(d.lengths)
}

// fault is what happens to the next request, nil for nothing.
func (d *draws) fault(all Faults) *Fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	u := d.faults.Float64()
	for i := range all {
		if u -= all[i].Share; u < 0 {
			return &all[i]
		}
	}
	return nil
}

// fails carries a fault out that comes before the answer; true where there is then
// no answer.
func (x *exchange) fails() bool {
	f := x.fault
	x.record.Fault = f.Kind
	switch f.Kind {
	case "429", "503":
		x.w.Header().Set("Retry-After", strconv.Itoa(int((f.Delay+time.Second-1)/time.Second)))
		fallthrough
	case "500":
		x.record.Outcome = Faulted
		x.record.Status, _ = strconv.Atoi(f.Kind)
		refuse(x.w, x.record.Status, strings.ReplaceAll(http.StatusText(x.record.Status), " ", ""), "a fault on demand")
		return true
	case "slow-headers":
		x.fault = nil
		return !x.hold(f.Delay)
	}
	return false
}

// hold is sleep by a fault, which notes until when.
func (x *exchange) hold(d time.Duration) bool {
	ok := x.sleep(d)
	x.held = x.s.since()
	return ok
}

// midway carries a fault out in the middle of the answer, before the next chunk;
// false where that was the end.
func (x *exchange) midway() bool {
	f := x.fault
	x.fault = nil
	if f.Kind == "stall" {
		return x.hold(f.Delay)
	}
	if f.Kind == "garbage" && x.body.Stream {
		x.garbled = true
		x.buf = append(x.buf, "data: {\"id\":\x00\xff\xfe]}\n\n:\x80\x81 not an event\r\r\n\n"...)
		return true
	}
	x.record.Outcome = Faulted
	out := x.buf
	switch f.Kind {
	case "garbage":
		out = append(out, "\x00\xff\xfe]}"...)
	case "half-event":
		out = append(out, `data: {"id":"`...)
	case "error":
		out = x.failing(out)
	case "reset":
		_, _ = x.w.Write(out) // the client loses what it has anyway
		x.reset()
		return false
	}
	_, _ = x.w.Write(out)
	return false
}

// failing adds an engine's error to a stream, as vLLM sends it.
func (x *exchange) failing(to []byte) []byte {
	body := `{"error":{"message":"a fault on demand","type":"InternalServerError","param":null,"code":500}}`
	if !x.body.Stream {
		return append(to, body...)
	}
	return append(append(append(to, "data: "...), body...), "\n\ndata: [DONE]\n\n"...)
}

// reset makes the connection end with a TCP reset.
func (x *exchange) reset() {
	c := http.NewResponseController(x.w)
	_ = c.Flush()
	conn, _, err := c.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // not on a connection of its own: end it as net/http can
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
