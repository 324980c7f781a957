package ask

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/openai"
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
