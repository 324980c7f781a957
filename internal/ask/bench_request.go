package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/openai"
	"github.com/ridgeline/ridgeline/internal/serve"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// Request resolves the question; what only a face can bring is left out.
func (f *Bench) Request(find Finder) (*bench.Config, error) {
	if err := Required(f.Flags, "url", "model"); err != nil {
		return nil, err
	}
	given := f.Flags.Changed
	if _, err := openai.ParseURL(f.url); err != nil {
		return nil, fmt.Errorf("--url: %w", err)
	}
	c := &bench.Config{Service: openai.Config{URL: strings.TrimRight(f.url, "/"), Model: f.model, Reconnect: f.reconnect, Insecure: f.insecure},
		Input: f.isl, Output: f.osl, Speed: f.speed, EchoReasoning: f.echo, Stream: !f.noStream, IgnoreEOS: !f.noEOS, NoCheck: f.noCheck,
		Metrics: f.metrics, Nonce: f.nonce, Worker: f.worker, Seed: uint64(f.seed), Keep: f.keep, Labels: f.labels, Warmup: -1}
	switch {
	case given("temperature") && (!(f.temperature >= 0) || math.IsInf(f.temperature, 0)):
		return nil, fmt.Errorf("--temperature %g: give a number from 0 up", f.temperature)
	case given("speed") && !given("trace"):
		return nil, errors.New("--speed is that of a trace: give --trace, or leave it out")
	}
	if given("temperature") {
		c.Temperature = &f.temperature
	}
	for _, step := range []func(*bench.Config) error{f.words, f.times, f.counts, f.objective, f.extras} {
		if err := step(c); err != nil {
			return nil, err
		}
	}
	if err := f.load(c, find); err != nil {
		return nil, err
	}
	if f.preset != "" {
		p, ok := bench.FindPreset(f.preset)
		if !ok {
			return nil, UnknownWord("--preset", f.preset, BenchPresets(), "use "+strings.Join(BenchPresets(), ", "))
		}
		p.Set(c, given)
		c.Protocol = p.Text + departures(given)
	}
	return c, nil
}

// departures names the flags that change what a preset states of its protocol.
func departures(given func(flag string) bool) string {
	var own []string
	for _, flag := range []string{"requests", "duration", "warmup", "endpoint", "prompts", "no-ignore-eos"} {
		if given(flag) {
			own = append(own, "--"+flag)
		}
	}
	if len(own) == 0 {
		return ""
	}
	return " Not as it says: " + strings.Join(own, ", ") + "."
}

// words are the fields that take one of a few.
func (f *Bench) words(c *bench.Config) error {
	for _, x := range []struct {
		flag, value string
		known       []string
		set         func(string)
	}{
		{"endpoint", f.endpoint, Endpoints, func(s string) { c.Service.Endpoint = openai.Endpoint(s) }},
		{"prompts", f.prompts, PromptKind, func(s string) { c.Prompts = bench.Prompts(s) }},
		{"slo-at", f.at, bench.Promises, func(s string) { f.slo.At = s }},
	} {
		if x.value == "" {
			continue
		}
		found := false
		for _, k := range x.known {
			found = found || k == x.value
		}
		if !found {
			return UnknownWord("--"+x.flag, x.value, x.known, "use "+strings.Join(x.known, ", "))
		}
		x.set(x.value)
	}
	return nil
}

// times are the fields with a unit of time.
func (f *Bench) times(c *bench.Config) (err error) {
	for _, x := range []struct {
		flag string
		from unit.Seconds
		into *time.Duration
	}{{"duration", f.duration, &c.Duration}, {"think", f.think, &c.Think}, {"grace", f.grace, &c.Grace}, {"header-timeout", f.headers, &c.Service.Limits.Headers},
		{"stall-timeout", f.idle, &c.Service.Limits.Idle}, {"timeout", f.total, &c.Service.Limits.Total}} {
		if *x.into, err = serve.Nanoseconds(x.from); err != nil {
			return fmt.Errorf("--%s: %w", x.flag, err)
		}
		if f.Flags.Changed(x.flag) && *x.into <= 0 {
			return fmt.Errorf("--%s %v: give a time above 0, such as 10s", x.flag, float64(x.from))
		}
	}
	if f.warmup == "" {
		return nil
	}
	if n, err := unit.ParseCount(f.warmup); err == nil && n >= 0 && n <= workload.MaxRequests {
		c.Warmup = int(n)
		return nil
	}
	t, err := unit.ParseSeconds(f.warmup)
	if err == nil {
		c.WarmupTime, err = serve.Nanoseconds(t)
	}
	if err != nil || c.WarmupTime <= 0 {
		return fmt.Errorf("--warmup %q: give a number of requests such as 16 or a time such as 10s", f.warmup)
	}
	return nil
}

// counts are the fields with a whole number.
func (f *Bench) counts(c *bench.Config) error {
	for _, x := range []struct {
		flag string
		from int64
		most int64
		into *int
	}{{"requests", f.requests, workload.MaxRequests, &c.Requests}, {"max-concurrency", f.cap, 1 << 20, &c.Cap}, {"turns", f.turns, 10_000, &c.Turns}} {
		if f.Flags.Changed(x.flag) && (x.from < 1 || x.from > x.most) {
			return fmt.Errorf("--%s %d: give 1 to %d", x.flag, x.from, x.most)
		}
		*x.into = int(x.from)
	}
	if !(f.speed > 0) || math.IsInf(f.speed, 0) {
		return fmt.Errorf("--speed %g: give a number above 0", f.speed)
	}
	if f.ids == "" {
		return nil
	}
	low, high, ok := strings.Cut(f.ids, "..")
	a, errA := strconv.Atoi(strings.TrimSpace(low))
	b, errB := strconv.Atoi(strings.TrimSpace(high))
	if !ok || errA != nil || errB != nil || a < 0 || b <= a {
		return fmt.Errorf("--token-ids %q: give a range such as 1000..30000", f.ids)
	}
	c.IDs = [2]int{a, b}
	return nil
}

func (f *Bench) objective(c *bench.Config) error {
	if !f.Flags.Changed("slo") {
		if f.at != "" {
			return errors.New("--slo-at needs --slo: say what must hold")
		}
		return nil
	}
	if f.slo.At == "" {
		f.slo.At = "mean"
	}
	c.SLO = &f.slo
	return nil
}

func (f *Bench) extras(c *bench.Config) error {
	if f.extra == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(f.extra), &c.Extra); err != nil || c.Extra == nil {
		return fmt.Errorf("--extra-body is no JSON object: give one such as '{\"top_k\": 1}'")
	}
	return nil
}
