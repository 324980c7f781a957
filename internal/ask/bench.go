package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/openai"
	"github.com/ridgeline/ridgeline/internal/serve"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// Bench is an evaluation of a service as it was typed. Keys, tokenizers and data
// sets are the face's to bring: they are files or secrets.
type Bench struct {
	Flags *pflag.FlagSet

	url, model, endpoint, prompts, preset string
	isl, osl                              workload.Length
	concurrency                           []int
	rates                                 []float64
	arrival                               workload.Arrival
	trace, warmup, search, ids, extra     string
	requests, cap, turns                  int64
	seed                                  int64
	duration, think, grace                unit.Seconds
	headers, idle, total                  unit.Seconds
	speed, temperature                    float64
	slo                                   bench.SLO
	at                                    string
	noStream, noEOS, noCheck              bool
	echo, keep, reconnect, insecure       bool
	metrics, nonce, worker                string
	labels                                map[string]string
}

// The words of Bench's fields.
var (
	Endpoints  = []string{string(openai.Chat), string(openai.Completions)}
	PromptKind = []string{string(bench.CommonWords), string(bench.TokenIDs), string(bench.Exact)}
)

// BenchPresets are the protocols of other tools.
func BenchPresets() (names []string) {
	for _, p := range bench.Presets {
		names = append(names, p.Name)
	}
	return names
}

// NewBench is an evaluation with nothing given.
func NewBench() *Bench {
	f := &Bench{Flags: pflag.NewFlagSet("bench", pflag.ContinueOnError)}
	fs := f.Flags
	fs.StringVar(&f.url, "url", "", "`URL` of the service, up to /v1")
	fs.StringVar(&f.model, "model", "", "`NAME` by which the service knows the model")
	fs.StringVar(&f.endpoint, "endpoint", "", "`chat` or completions (default chat)")
	fs.Var(Quantity(&f.isl, workload.ParseLength, "N", ""), "isl", "input tokens per request: 1024, 820..1024 or 1024+-20%")
	fs.Var(Quantity(&f.osl, workload.ParseLength, "N", ""), "osl", "output tokens per request, likewise (default: as the model likes)")
	fs.Var(Quantity(&f.concurrency, Concurrencies, "LIST", ""), "concurrency", "requests in flight of a closed loop, a stage each: 1,2,4 or 1..128, which doubles")
	fs.Var(Quantity(&f.rates, List(parseRate), "LIST", ""), "rate", "requests per second of an open loop, a stage each: 1,2,4")
	fs.Var(Quantity(&f.arrival, workload.ParseProcess, "LAW", ""), "arrival", "of --rate: poisson, constant or gamma:CV (default poisson)")
	fs.StringVar(&f.trace, "trace", "", "replay the trace in `FILE`: Azure CSV, Mooncake or engine JSON lines, records; also .gz")
	fs.Float64Var(&f.speed, "speed", 1, "of the trace: 2 replays it in half its time")
	fs.StringVar(&f.search, "search", "", "look for the highest load that meets --slo: `rate`=LOW..HIGH or concurrency=LOW..HIGH")
	Count(fs, &f.requests, "requests", "per stage, after the warm-up (default 10 per user of a closed loop, the whole trace)")
	Duration(fs, &f.duration, "duration", "of a stage, after the warm-up; what is in flight then is waited for (default 1 min of a rate)")
	fs.StringVar(&f.warmup, "warmup", "", "before each stage, in no metric: `N` requests or a time such as 10s (default 2 requests per user of a closed loop)")
	Duration(fs, &f.grace, "grace", "give up what is still in flight so long after --duration, and count it as cancelled")
	Count(fs, &f.cap, "max-concurrency", "most in flight of a rate or trace; what is over waits, and its waiting counts")
	Count(fs, &f.turns, "turns", "of a session: each sends all turns before (default 1)")
	Duration(fs, &f.think, "think", "between an answer and the session's next turn")
	f.service()
	f.requestFlags()
	return f
}

// service adds how the service is talked to and judged.
func (f *Bench) service() {
	fs := f.Flags
	fs.Var(Quantity(&f.slo, bench.ParseSLO, "SLO", ""), "slo", "of every request, for goodput: ttft=2s,tpot=50ms,itl=200ms,e2e=30s or some of them; exit 4 where a stage misses it")
	fs.StringVar(&f.at, "slo-at", "", "`STAT` of a stage that must keep it: mean, p50, p90, p95, p99 or max (default mean)")
	Duration(fs, &f.headers, "header-timeout", "until an answer begins (default 10 min)")
	Duration(fs, &f.idle, "stall-timeout", "without a byte of an answer that began (default 2 min)")
	Duration(fs, &f.total, "timeout", "of a whole request (default 1 h)")
	fs.StringVar(&f.metrics, "metrics-url", "", "`URL` of the service's metrics, or - to read none (default /metrics beside /v1)")
	Switch(fs, &f.reconnect, "new-connections", "connect anew for every request")
	Switch(fs, &f.insecure, "insecure", "accept any TLS certificate")
	Switch(fs, &f.noCheck, "no-check", "send no first questions, by which texts are calibrated")
}

// requestFlags adds what is asked.
func (f *Bench) requestFlags() {
	fs := f.Flags
	fs.StringVar(&f.preset, "preset", "", "settings of another tool's protocol, for what is left out: `NAME` is "+strings.Join(BenchPresets(), ", "))
	fs.StringVar(&f.prompts, "prompts", "", "`KIND` of prompt: words, ids (completions), exact (default ids for completions, words for chat, exact with a tokenizer)")
	fs.StringVar(&f.ids, "token-ids", "", "`LOW..HIGH` of random token ids (default 1000..30000)")
	Switch(fs, &f.noStream, "no-stream", "ask for whole answers: they have no first token")
	Switch(fs, &f.noEOS, "no-ignore-eos", "let answers end by themselves; services that refuse unknown fields need it")
	fs.Float64Var(&f.temperature, "temperature", 0, "of sampling (default: the service's)")
	fs.StringVar(&f.extra, "extra-body", "", "further fields of every request, a `JSON` object")
	Switch(fs, &f.echo, "echo-reasoning", "send reasoning back with a session's history, which no usual client does")
	Switch(fs, &f.keep, "keep-text", "keep prompts and answers in the records")
	fs.StringVar(&f.nonce, "nonce", "", "`TEXT` that makes prompts this run's own (default random; the same one repeats them)")
	fs.StringVar(&f.worker, "worker", "", "`NAME` of this one among several that run together")
	Count(fs, &f.seed, "seed", "of lengths and arrivals (default 0)")
	fs.StringToStringVar(&f.labels, "label", nil, "`KEY=VALUE` for the report, may be repeated")
}

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
			return nil, UnknownWord("preset", f.preset, BenchPresets(), "use "+strings.Join(BenchPresets(), ", "))
		}
		p.Set(c, given)
		c.Protocol = p.Text
	}
	return c, nil
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
		{"slo-at", f.at, bench.Statistics, func(s string) { f.slo.At = s }},
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

// load is what is put on the service.
func (f *Bench) load(c *bench.Config, find Finder) error {
	given := f.Flags.Changed
	kinds := 0
	for _, flag := range []string{"concurrency", "rate", "search"} {
		if given(flag) {
			kinds++
		}
	}
	switch {
	case kinds > 1 || kinds == 0 && !given("trace"):
		return errors.New("bench needs one load: --concurrency LIST, --rate LIST, --trace FILE or --search KIND=LOW..HIGH")
	case given("arrival") && !given("rate") && !strings.HasPrefix(f.search, "rate"):
		return errors.New("--arrival needs --rate: a trace and a closed loop say when requests come")
	case given("max-concurrency") && given("concurrency"):
		return errors.New("--max-concurrency caps a rate or trace: --concurrency already says how many are in flight")
	case given("grace") && !given("duration"):
		return errors.New("--grace needs --duration: a stage of so many requests waits for them")
	case given("trace") && (given("isl") || given("osl")):
		return errors.New("--isl and --osl: the trace has its own lengths, leave them out")
	}
	if given("trace") {
		w, err := find.Trace(f.trace)
		if err != nil {
			return fmt.Errorf("--trace: %w", err)
		}
		if c.Trace = w; kinds == 0 {
			c.Levels = []bench.Level{{Mode: bench.Traced}}
		}
	}
	if !given("arrival") {
		f.arrival = workload.Arrival{Process: workload.Poisson, Variation: 1}
	}
	for _, n := range f.concurrency {
		c.Levels = append(c.Levels, bench.Level{Mode: bench.Closed, Concurrency: n})
	}
	for _, r := range f.rates {
		a := f.arrival
		a.Rate = r
		c.Levels = append(c.Levels, bench.Level{Mode: bench.Open, Arrival: a})
	}
	return f.find(c)
}

// find is the search for the highest load.
func (f *Bench) find(c *bench.Config) error {
	if f.search == "" {
		return nil
	}
	kind, bounds, _ := strings.Cut(f.search, "=")
	low, high, ok := strings.Cut(bounds, "..")
	a, errA := strconv.ParseFloat(low, 64)
	b, errB := strconv.ParseFloat(high, 64)
	s := &bench.Search{Mode: bench.Open, Low: a, High: b, Level: bench.Level{Arrival: f.arrival}}
	if kind == "concurrency" {
		s.Mode, s.Level = bench.Closed, bench.Level{}
	}
	if !ok || errA != nil || errB != nil || kind != "rate" && kind != "concurrency" || s.Check() != nil {
		return fmt.Errorf("--search %q: give rate=LOW..HIGH or concurrency=LOW..HIGH, such as rate=1..64", f.search)
	}
	if c.SLO == nil {
		return errors.New("--search needs --slo: say what must hold")
	}
	c.Search = s
	return nil
}

// Searching tells whether the load is looked for: stages that miss the SLO are
// then part of the answer.
func (f *Bench) Searching() bool { return f.search != "" }
