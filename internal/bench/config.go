package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ridgeline/ridgeline/internal/note"
	"github.com/ridgeline/ridgeline/internal/openai"
	"github.com/ridgeline/ridgeline/internal/prompt"
	"github.com/ridgeline/ridgeline/internal/workload"
)

// Config is one evaluation. The zero value of a field is its default where the
// comment names one.
type Config struct {
	Service openai.Config
	Levels  []Level // stages, in this order; none with Search
	Search  *Search // look for the highest load that meets the SLO, nil = do not

	// What is asked. Exactly one of the three: lengths, a trace, dialogues.
	Input, Output workload.Length
	Trace         *workload.Workload
	Dialogues     []Dialogue
	Speed         float64       // of the trace: 2 replays it in half the time (default 1)
	Turns         int           // of a session (default 1): each sends all turns before
	Think         time.Duration // between an answer's end and the next turn
	EchoReasoning bool          // send reasoning back with the history, which no real client does

	// When a stage ends: after Requests or Duration, whichever is first, not counting
	// the warm-up. Both 0: 10 requests per user of a closed loop, a minute of an open
	// one, the whole trace.
	Requests int
	Duration time.Duration
	// Warmup requests come before, or those of WarmupTime: they are load, and in no
	// metric; measured requests follow without a drain. A negative Warmup takes 2 per
	// user of a closed loop and none of the others.
	Warmup     int
	WarmupTime time.Duration
	Grace      time.Duration // that requests in flight have after Duration, 0 = as long as they take
	Cap        int           // most in flight of an open loop or trace, 0 = no cap

	Prompts   Prompts
	Tokenizer *prompt.Tokenizer // of Exact prompts
	IDs       [2]int            // range of token ids (default prompt.CommonIDs)
	Nonce     string            // "" = a random one
	Worker    string            // name among several
	Seed      uint64            // of lengths and arrivals

	IgnoreEOS   bool // ask for exactly Output tokens
	Stream      bool
	Temperature *float64
	Extra       map[string]any // further fields of every request

	SLO      *SLO
	NoCheck  bool   // send nothing before the first stage
	Metrics  string // URL of the service's metrics, "" = /metrics beside /v1, "-" = do not ask
	Keep     bool   // keep prompts and answers in the records
	Version  string // of this program
	Protocol string // for the report
	Labels   map[string]string
	// Record is called for every request as it ends, one after another, never by two
	// goroutines at once. Its first error is kept in Report.Unwritten; the run goes on.
	Record func(*Record) error
}

// Level is the load of one stage.
type Level struct {
	Mode        Mode
	Concurrency int              // of a closed loop
	Arrival     workload.Arrival // of an open one, with its rate
	// NetDelay is what lies on the way to the service, one way, and Dial makes
	// connections that have it; "" = nothing is added.
	NetDelay string
	Dial     func(ctx context.Context, network, address string) (net.Conn, error)
}

// String names a level in progress lines.
func (l Level) String() string {
	text := fmt.Sprintf("%d in flight", l.Concurrency)
	switch l.Mode {
	case Open:
		text = fmt.Sprintf("%g requests/s", l.Arrival.Rate)
	case Traced:
		text = "trace"
	}
	if l.NetDelay != "" {
		text += ", delay " + l.NetDelay
	}
	return text
}

// Prompts is how prompts are made.
type Prompts string

// The kinds. Words are calibrated against the service's count; Exact are counted
// by a tokenizer; TokenIDs are sent as numbers.
const (
	CommonWords Prompts = "words"
	Exact       Prompts = "exact"
	TokenIDs    Prompts = "ids"
)

// Defaults of a stage's length: those of InferenceX, whose published runs the
// predictions are compared with.
const (
	perUser       = 10
	warmupPerUser = 2
	openDuration  = time.Minute
)

// checkTexts refuses names with control characters, which reports would send to terminals.
func (c *Config) checkTexts() error {
	type text struct{ field, text string }
	texts := map[string]text{"the model's name": {"model", c.Service.Model}, "the worker's name": {"worker", c.Worker}, "the nonce": {"nonce", c.Nonce}}
	for k, v := range c.Labels {
		texts["the label "+strconv.Quote(k)] = text{"label", k + v}
	}
	for _, what := range slices.Sorted(maps.Keys(texts)) {
		if x := texts[what]; strings.ContainsFunc(x.text, unicode.IsControl) {
			return note.Of(x.field, fmt.Errorf("%s %q holds control characters: give a plain text", what, x.text))
		}
	}
	return nil
}

// checkMetrics refuses an address that no metrics could come from.
func (c *Config) checkMetrics() error {
	if c.Metrics == "" || c.Metrics == "-" {
		return nil
	}
	if u, err := url.Parse(c.Metrics); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return errors.New("the address of the metrics is no http or https URL without a name in it: give one such as http://localhost:8000/metrics, or - to read none")
	}
	return nil
}

// check says what cannot work before anything is sent.
func (c *Config) check() error {
	lengths := c.Input.High > 0
	if err := cmp.Or(c.checkTexts(), c.checkMetrics()); err != nil {
		return err
	}
	switch {
	case len(c.Levels) == 0 && c.Search == nil:
		return errors.New("no load: give a concurrency, a rate or a trace")
	case len(c.Levels) > maxStages:
		return fmt.Errorf("%d stages: give at most %d", len(c.Levels), maxStages)
	case c.Search != nil && (c.SLO == nil || len(c.SLO.objectives()) == 0):
		return errors.New("a search needs an SLO to meet")
	case c.Trace == nil && c.Dialogues == nil && !lengths:
		return note.Of("isl", errors.New("nothing to ask: give the length of prompts with --isl, a --trace or a --dataset"))
	case c.Turns > 1 && c.Service.Endpoint == openai.Completions:
		return errors.New("turns need the chat endpoint: completions know no conversation")
	case c.Prompts == TokenIDs && c.Service.Endpoint != openai.Completions:
		return errors.New("token ids need the completions endpoint: chat takes texts only")
	case c.Prompts == Exact && c.Tokenizer == nil:
		return errors.New("exact prompts need a tokenizer.json")
	case c.IDs[0] < 0 || c.IDs[1] < c.IDs[0]:
		return fmt.Errorf("token ids %d..%d: give a range", c.IDs[0], c.IDs[1])
	}
	for _, l := range c.Levels {
		if err := c.checkLevel(l); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) checkLevel(l Level) error {
	if c.Trace != nil && l.Mode != Open {
		warmup, _, _ := c.bounds(l)
		if n := len(c.Trace.Requests); warmup >= n || l.Mode == Traced && c.WarmupTime > 0 && len(c.traced(n, c.WarmupTime)) == n {
			return note.Of("warmup", fmt.Errorf("the warm-up takes all %d requests of the trace: give a shorter one", n))
		}
	}
	switch {
	case l.Mode == Closed && l.Concurrency < 1:
		return fmt.Errorf("%d in flight: give at least 1", l.Concurrency)
	case l.Mode == Open:
		return l.Arrival.Check()
	case l.Mode == Traced && c.Trace == nil:
		return errors.New("a trace level without a trace")
	}
	return nil
}

// filled is the config with its defaults.
func (c Config) filled() Config {
	if c.Speed == 0 {
		c.Speed = 1
	}
	c.Turns = max(c.Turns, 1)
	if c.Prompts == "" {
		if c.Prompts = CommonWords; c.Service.Endpoint == openai.Completions {
			c.Prompts = TokenIDs
		}
	}
	if c.IDs == [2]int{} {
		c.IDs = prompt.CommonIDs
	}
	if c.Service.Endpoint == "" {
		c.Service.Endpoint = openai.Chat
	}
	return c
}

// bounds are how many requests a level warms up with and measures, and for how
// long; 0 = no bound of that kind.
func (c *Config) bounds(l Level) (warmup, requests int, duration time.Duration) {
	warmup, requests, duration = max(c.Warmup, 0), c.Requests, c.Duration
	users := l.Concurrency
	if l.Mode == Closed && c.Warmup < 0 && c.WarmupTime == 0 {
		warmup = warmupPerUser * users
	}
	if requests == 0 && duration == 0 {
		switch l.Mode {
		case Closed:
			requests = perUser * users
		case Open:
			duration = openDuration
		case Traced:
			requests = len(c.Trace.Requests)
		}
	}
	return warmup, requests, duration
}
