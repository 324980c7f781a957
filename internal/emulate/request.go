package emulate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
)

// kind is which of the two interfaces was called.
type kind uint8

const (
	chat kind = iota
	text
)

func (k kind) String() string { return [...]string{"chat", "completion"}[k] }

// body is what is read of a request; all else, sampling and formats, changes no
// timing here and is accepted as it is.
type body struct {
	Model         string          `json:"model"`
	Messages      []message       `json:"messages"`
	Prompt        json.RawMessage `json:"prompt"`
	MaxTokens     *int            `json:"max_tokens"`
	MaxCompletion *int            `json:"max_completion_tokens"`
	MinTokens     int             `json:"min_tokens"`
	IgnoreEOS     bool            `json:"ignore_eos"`
	Stream        bool            `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
		Continuous   bool `json:"continuous_usage_stats"`
	} `json:"stream_options"`
	N        *int `json:"n"`
	Echo     bool `json:"echo"`
	Priority int  `json:"priority"`
}

type message struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Reasoning string          `json:"reasoning_content"`
}

// maxBody bounds a request: the longest prompt of any model as JSON, with room.
const maxBody = 64 << 20

// read takes a request's body in; wrong is what the client did wrong.
func read(r *http.Request, k kind) (b *body, prompt content, wrong error) {
	raw, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		return nil, nil, fmt.Errorf("the body could not be read: %w", err)
	}
	b = &body{}
	if err := json.Unmarshal(raw, b); err != nil {
		return nil, nil, fmt.Errorf("the body is no request in JSON: %w", err)
	}
	switch {
	case b.N != nil && *b.N != 1:
		return nil, nil, fmt.Errorf("n %d: only one answer is emulated", *b.N)
	case b.Echo:
		return nil, nil, errors.New("echo is not emulated")
	case b.limit() != nil && *b.limit() < 1:
		return nil, nil, fmt.Errorf("max_tokens %d: give at least 1", *b.limit())
	case b.MinTokens < 0 || b.limit() != nil && b.MinTokens > *b.limit():
		return nil, nil, fmt.Errorf("min_tokens %d: give 0 up to max_tokens", b.MinTokens)
	}
	if k == chat {
		prompt, err = b.chat()
	} else {
		prompt, err = b.prompt()
	}
	if err == nil && prompt.tokens() == 0 {
		err = errors.New("the prompt is empty: give text or token ids")
	}
	return b, prompt, err
}

// limit is the most tokens of the answer, nil where the client did not say.
func (b *body) limit() *int {
	if b.MaxCompletion != nil {
		return b.MaxCompletion
	}
	return b.MaxTokens
}

// chat is the messages as one prompt.
func (b *body) chat() (c content, err error) {
	if len(b.Messages) == 0 {
		return nil, errors.New("messages is empty: give at least one")
	}
	for i, m := range b.Messages {
		said, err := m.text()
		if err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
		c = c.message(m.Role, said)
	}
	return append(c, make([]byte, primed*width)...), nil
}

// text is what a message says, as text or in parts.
func (m *message) text() (string, error) {
	if len(m.Content) == 0 || string(m.Content) == "null" {
		return "", nil
	}
	var said string
	if json.Unmarshal(m.Content, &said) == nil {
		return said, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(m.Content, &parts); err != nil {
		return "", errors.New("content is neither text nor a list of parts")
	}
	var all strings.Builder
	for _, p := range parts {
		if p.Type != "text" {
			return "", fmt.Errorf("a part of type %q is not emulated: give text", p.Type)
		}
		all.WriteString(p.Text)
	}
	return all.String(), nil
}

// prompt is that of a completion: a text, token ids, or a list that holds one of them.
func (b *body) prompt() (content, error) {
	var said string
	if json.Unmarshal(b.Prompt, &said) == nil {
		return content(nil).text(said), nil
	}
	var ids []int64
	if json.Unmarshal(b.Prompt, &ids) == nil {
		return idContent(ids)
	}
	var texts []string
	var lists [][]int64
	switch {
	case json.Unmarshal(b.Prompt, &texts) == nil && len(texts) == 1:
		return content(nil).text(texts[0]), nil
	case json.Unmarshal(b.Prompt, &lists) == nil && len(lists) == 1:
		return idContent(lists[0])
	}
	return nil, errors.New("prompt is neither text nor token ids: give one prompt")
}

func idContent(ids []int64) (content, error) {
	small := make([]int32, len(ids))
	for i, id := range ids {
		if id < 0 || id > math.MaxInt32 {
			return nil, fmt.Errorf("prompt[%d]: %d is no token id", i, id)
		}
		small[i] = int32(id)
	}
	return content(nil).ids(small), nil
}
