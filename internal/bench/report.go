package bench

import (
	"encoding/json"
	"slices"

	"github.com/ridgeline/ridgeline/internal/note"
)

// Report is the document of a whole run: what `bench --json` prints, the store
// keeps and pages show.
type Report struct {
	URL       string            `json:"url"`
	Model     string            `json:"model"`
	Endpoint  string            `json:"endpoint"` // chat or completions
	Stream    bool              `json:"stream"`
	Started   string            `json:"started"`         // RFC 3339, UTC
	Seconds   float64           `json:"seconds"`         // the run took, warm-up included
	Worker    string            `json:"worker"`          // that wrote it; of several: their names
	Nonce     string            `json:"nonce"`           // that makes the run's prompts its own
	Seed      uint64            `json:"seed"`            // of lengths and arrivals
	Protocol  string            `json:"protocol"`        // whose definitions the settings follow
	Load      string            `json:"load"`            // in words
	Prompts   string            `json:"prompts"`         // in words: how they were made, what their length counts
	SLO       *SLO              `json:"slo"`             // null without one
	Client    Machine           `json:"client"`          // that put the load on
	Labels    map[string]string `json:"labels"`          // of the user
	Stages    []Stage           `json:"stages"`          // in the order they ran
	Best      *Best             `json:"best"`            // of a search for the highest load, null of others
	Partial   bool              `json:"partial"`         // interrupted: figures are of what ran
	Warnings  []string          `json:"warnings"`        // what a reader must know
	Notes     note.List         `json:"notes,omitempty"` // the same with their kinds and figures
	NetDelay  []string          `json:"net_delay"`       // of each stage, where a delay was put between; else empty
	Records   string            `json:"records"`         // file of the requests, "" = none was written
	Unwritten string            `json:"unwritten"`       // why records could not be written, "" = they were
}

// Best is the highest load that met the SLO.
type Best struct {
	Stage       int      `json:"stage"` // index into stages
	Rate        *float64 `json:"rate"`
	Concurrency *int     `json:"concurrency"`
}

// ClientLimited tells whether a search ended at a load that its own client may have missed.
func (d *Report) ClientLimited() bool {
	return slices.ContainsFunc(d.Notes, func(n note.Note) bool { return n.Code == note.SearchClient })
}

// Machine is the client's.
type Machine struct {
	Version  string `json:"version"` // of Ridgeline
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	CPUs     int    `json:"cpus"`     // that the client may use
	Governor string `json:"governor"` // of CPU 0's frequency, "" = not known
}

// Mode is how requests come.
type Mode string

// The modes: a fixed number in flight, a rate, a trace; and, of another tool's file, that
// it does not state its load.
const (
	Closed   Mode = "closed"
	Open     Mode = "open"
	Traced   Mode = "trace"
	Unstated Mode = ""
)

// Stage is one level of load. Its Summary is that of all requests after the
// warm-up; Steady that of the window in which the load stood.
type Stage struct {
	Mode        Mode    `json:"mode"`
	Concurrency int     `json:"concurrency"`     // closed: in flight; else the cap, 0 = none
	Rate        float64 `json:"rate"`            // requests/s asked for, 0 in a closed loop
	Achieved    Figure  `json:"achieved_rate"`   // requests/s that were dispatched
	Arrival     string  `json:"arrival"`         // law of an open loop
	NetDelay    string  `json:"net_delay"`       // one way, put between client and service; "" = none
	Unsent      *int    `json:"unsent"`          // scheduled, and never sent; null where nobody knows
	Warmup      int     `json:"warmup_requests"` // sent before, in no figure
	Partial     bool    `json:"partial"`         // interrupted
	Meets       *bool   `json:"meets_slo"`       // null without an SLO
	Missed      string  `json:"missed"`          // which objective and by how much
	Summary
	Steady   *Summary       `json:"steady"` // null where the load never stood
	Client   Client         `json:"client"`
	Server   *ServerMetrics `json:"server"` // null where it publishes none
	Timeline []Moment       `json:"timeline"`
	Warnings []string       `json:"warnings"`
	Notes    note.List      `json:"notes,omitempty"` // the same with their kinds and figures
}

// MarshalJSON writes null for a load that nobody stated: 0 would be a figure.
func (s Stage) MarshalJSON() ([]byte, error) {
	type stage Stage
	if s.Mode != Unstated {
		return json.Marshal(stage(s))
	}
	return json.Marshal(struct {
		Mode        *Mode    `json:"mode"`
		Concurrency *int     `json:"concurrency"`
		Rate        *float64 `json:"rate"`
		stage
	}{stage: stage(s)})
}

// Counts is what became of the requests: Sent is the sum of the rest.
type Counts struct {
	Sent      int `json:"sent"`
	OK        int `json:"ok"`
	Failed    int `json:"failed"`
	Truncated int `json:"truncated"`
	Cancelled int `json:"cancelled"`
}

// Summary is a stretch of a stage. Latencies are of successes only; rates count
// every token that came in the stretch, of requests that failed later too.
type Summary struct {
	From     float64        `json:"from_seconds"` // since the start of the run
	To       float64        `json:"to_seconds"`
	Coverage float64        `json:"coverage"` // share of the stage's time
	Requests Counts         `json:"requests"`
	Classes  map[string]int `json:"classes"` // of failures
	Basis    Basis          `json:"basis"`   // of ttft_ms, ttfat_ms and e2e_ms
	TTFB     Dist           `json:"ttfb_ms"` // service
	TTFT     Dist           `json:"ttft_ms"`
	TTFAT    Dist           `json:"ttfat_ms"`
	TPOT     Dist           `json:"tpot_ms"`
	PerToken Dist           `json:"time_per_output_token_ms"` // E2E / n: not TPOT
	ICL      Dist           `json:"icl_ms"`
	ITL      *Dist          `json:"itl_ms"` // null where tokens per chunk are not known
	MaxGap   Dist           `json:"max_gap_ms"`
	E2E      Dist           `json:"e2e_ms"`
	Queue    Dist           `json:"queue_ms"`
	Slip     Dist           `json:"slip_ms"`
	Upload   Dist           `json:"upload_ms"`
	Other    Latencies      `json:"other_basis"`    // the same latencies from the other start
	Input    Dist           `json:"input_tokens"`   // as the server counted, else as sent
	Output   Dist           `json:"output_tokens"`  // as the server counted, else chunks
	Counted  Figure         `json:"counted_share"`  // of requests whose tokens the server counted
	PerChunk Figure         `json:"chunk_tokens"`   // mean tokens per chunk
	InFlight Figure         `json:"in_flight_mean"` // over the time of the stretch

	RequestRate Figure   `json:"requests_per_second"` // successes
	OutputRate  Figure   `json:"output_tokens_per_second"`
	InputRate   Figure   `json:"input_tokens_per_second"`
	Goodput     *float64 `json:"goodput"`       // requests/s that meet every objective; null without any
	GoodShare   *float64 `json:"goodput_share"` // of requests that count: not those cancelled
}

// Latencies are those that depend on where they start.
type Latencies struct {
	Basis Basis `json:"basis"`
	TTFT  Dist  `json:"ttft_ms"`
	TTFAT Dist  `json:"ttfat_ms"`
	E2E   Dist  `json:"e2e_ms"`
}

// Client is what the client saw of itself.
type Client struct {
	Valid   bool     `json:"valid"` // false where the client was the bottleneck, or nobody knows
	Reasons []string `json:"reasons"`
	LagP99  *float64 `json:"lag_p99_ms"` // how late goroutines that are due run, or chunks are consumed after they came; null where not known
	LagMax  *float64 `json:"lag_max_ms"` //
	// StampLagP99 is how late times may have been taken: it is less where the system stamps what comes.
	StampLagP99 *float64 `json:"stamp_lag_p99_ms"`
	CPU         *float64 `json:"cpu"`          // cores used on average
	GCPause     *float64 `json:"gc_pause_ms"`  // in all
	Memory      *int64   `json:"memory_bytes"` // most that the Go runtime held
}

// UnknownClient is one of which nothing is known: its figures are not called valid.
func UnknownClient(why string) Client { return Client{Reasons: []string{"not known: " + why}} }

// Moment is one interval of the time line.
type Moment struct {
	At       float64  `json:"at_seconds"` // its end, since the start of the run
	InFlight float64  `json:"in_flight"`  // mean over the interval
	Sent     int      `json:"sent"`
	Done     int      `json:"done"`
	Failed   int      `json:"failed"`
	Tokens   int      `json:"output_tokens"`
	TTFT     *float64 `json:"ttft_ms"` // median of the requests whose first token came in it
}

// ServerMetrics is what the service published over the stage: differences of its
// counters, and its gauges while it ran. Nothing published is null.
type ServerMetrics struct {
	Names       string   `json:"names"` // of which engine: vllm or sglang
	PrefixHits  *float64 `json:"prefix_cache_hit_rate"`
	Acceptance  *float64 `json:"draft_acceptance_rate"`
	Preemptions *float64 `json:"preemptions"`
	TTFT        *float64 `json:"ttft_mean_ms"` // mean that the service measured
	Queue       *float64 `json:"queue_mean_ms"`
	Running     Dist     `json:"running"` // requests, sampled
	Waiting     Dist     `json:"waiting"`
	Cache       Dist     `json:"kv_cache_usage"` // share
}
