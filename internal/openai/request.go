package openai

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
)

// Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	// Reasoning goes back to the service only where asked for: no real client
	// echoes it, and it changes which prefix is found in the cache.
	Reasoning string `json:"reasoning_content,omitempty"`
}

// Request is one question. Exactly one of Messages, Text and IDs is given: a
// conversation for the chat endpoint, a text or token ids for completions.
type Request struct {
	Messages []Message
	Text     string
	IDs      []int

	MaxTokens   int // to generate, 0 = as many as the model likes
	MinTokens   int // 0 = leave it out
	IgnoreEOS   bool
	Stream      bool
	Continuous  bool     // ask for usage with every chunk
	Temperature *float64 // nil = the service's
	// Extra are further fields of the body; they win over those above.
	Extra map[string]any
	Keep  bool // keep the answer's text
	// Seen counts tokens as they come, a chunk of unknown ones as one; nil = nobody
	// watches.
	Seen *atomic.Int64
}

// body is the request as it is sent.
func (c *Client) body(r *Request) ([]byte, error) {
	b := map[string]any{"model": c.config.Model, "stream": r.Stream}
	switch {
	case c.config.Endpoint == Chat:
		b["messages"] = r.Messages
	case r.IDs != nil:
		b["prompt"] = r.IDs
	default:
		b["prompt"] = r.Text
	}
	if r.MaxTokens > 0 {
		b["max_tokens"] = r.MaxTokens
	}
	if r.MinTokens > 0 {
		b["min_tokens"] = r.MinTokens
	}
	if r.IgnoreEOS {
		b["ignore_eos"] = true
	}
	if r.Temperature != nil {
		b["temperature"] = *r.Temperature
	}
	if r.Stream {
		o := map[string]any{"include_usage": true}
		if r.Continuous {
			o["continuous_usage_stats"] = true
		}
		b["stream_options"] = o
	}
	for k, v := range r.Extra {
		b[k] = v
	}
	text, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("the request's body: %w", err)
	}
	return text, nil
}
