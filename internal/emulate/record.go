package emulate

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/ridgeline/ridgeline/internal/workload"
)

// Outcome is what became of a request.
type Outcome string

// The outcomes: answered in full; refused for what it asked; failed on demand; its
// client, or the server, went before the end.
const (
	Done      Outcome = "done"
	Rejected  Outcome = "rejected"
	Faulted   Outcome = "faulted"
	Cancelled Outcome = "cancelled"
)

// Record is what the server did with one request. Times are in seconds of the wall
// from the server's start, on one monotonic clock; those of the engine are when the
// simulation had its events, which the chunks' lag behind by what the machine takes
// to write them. 0 where it did not happen.
type Record struct {
	ID           string  `json:"id"`
	Kind         string  `json:"kind"` // chat or completion
	Stream       bool    `json:"stream"`
	Outcome      Outcome `json:"outcome"`
	Status       int     `json:"status"` // HTTP, 0 where none was sent
	Fault        string  `json:"fault,omitempty"`
	Finish       string  `json:"finish_reason,omitempty"`
	PromptTokens int     `json:"prompt_tokens"`
	CachedTokens int     `json:"cached_tokens"`
	MaxTokens    int     `json:"max_tokens"`
	Generated    int     `json:"generated_tokens"` // by the engine
	Sent         int     `json:"sent_tokens"`
	Preempted    int     `json:"preempted"`
	Received     float64 `json:"received_seconds"`
	Queued       float64 `json:"queued_seconds"` // at the engine
	Started      float64 `json:"started_seconds"`
	First        float64 `json:"first_token_seconds"` // of the engine
	Last         float64 `json:"last_token_seconds"`
	Headers      float64 `json:"headers_seconds"`
	FirstChunk   float64 `json:"first_chunk_seconds"` // as it was handed to the system
	LastChunk    float64 `json:"last_chunk_seconds"`
	End          float64 `json:"end_seconds"`
	Chunks       int     `json:"chunks"`

	ChunkSeconds []float64 `json:"chunk_seconds,omitempty"`
	ChunkTokens  []int     `json:"chunk_tokens,omitempty"`
}

// chunk notes a chunk of n tokens; keep says whether each one is kept.
func (r *Record) chunk(at float64, n int, keep bool) {
	if r.Chunks == 0 {
		r.FirstChunk = at
	}
	r.LastChunk = at
	r.Chunks++
	r.Sent += n
	if keep {
		r.ChunkSeconds, r.ChunkTokens = append(r.ChunkSeconds, at), append(r.ChunkTokens, n)
	}
}

// simulated takes over what the engine did.
func (r *Record) simulated(s *workload.Record, wall func(time.Duration) float64) {
	r.Generated, r.CachedTokens, r.Preempted = s.Generated, s.Cached, s.Preempted
	r.Queued = wall(s.Queued)
	if s.Started > 0 {
		r.Started = wall(s.Started)
	}
	if s.Generated > 0 {
		r.First, r.Last = wall(s.First), wall(s.Last)
	}
}

// Log writes records as JSON lines, a write each; it is safe for calls that overlap. Nothing is
// written after a write that failed.
type Log struct {
	mu   sync.Mutex
	e    *json.Encoder
	err  error
	lost int
}

// NewLog writes to w.
func NewLog(w io.Writer) *Log {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return &Log{e: e}
}

// Add writes one record; the error is that of the first write that fails, told once.
func (l *Log) Add(r *Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		l.lost++
		return nil
	}
	if l.err = l.e.Encode(r); l.err != nil {
		l.lost++
	}
	return l.err
}

// Err tells how many records were not written, and why; nil where all were.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		return nil
	}
	return fmt.Errorf("%d records were not written: %w", l.lost, l.err)
}
