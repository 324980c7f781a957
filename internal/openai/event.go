package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// event is what is read of a chunk of a stream, or of a whole answer.
type event struct {
	Error   json.RawMessage `json:"error"`
	Object  string          `json:"object"`
	Message json.RawMessage `json:"message"` // of a bare error object
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
}

type choice struct {
	Text    text    `json:"text"` // completions
	Delta   message `json:"delta"`
	Message message `json:"message"` // of an answer that is not streamed
	Finish  *string `json:"finish_reason"`
	IDs     []int   `json:"token_ids"` // vLLM's, where asked for
}

// message is the channels on which tokens come.
type message struct {
	Content          text              `json:"content"`
	ReasoningContent text              `json:"reasoning_content"`
	Reasoning        text              `json:"reasoning"`
	Refusal          text              `json:"refusal"`
	ToolCalls        []json.RawMessage `json:"tool_calls"`
	FunctionCall     json.RawMessage   `json:"function_call"`
}

// text is a string, or null, or a list of parts as some services write content.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	switch {
	case len(b) == 0 || b[0] == 'n':
		return nil
	case b[0] == '"':
		var s string
		err := json.Unmarshal(b, &s)
		*t = text(s)
		return err
	case b[0] == '[':
		var parts []struct {
			Text     text `json:"text"`
			Thinking text `json:"thinking"`
		}
		if err := json.Unmarshal(b, &parts); err != nil {
			return err
		}
		for _, p := range parts {
			*t += p.Text + p.Thinking
		}
		return nil
	}
	return errors.New("content is neither text nor parts")
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Details    *struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	PromptDetails *struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	Reasoning int `json:"reasoning_tokens"` // SGLang's place
}

func (u *usage) counted() Usage {
	c := Usage{Known: true, Prompt: u.Prompt, Completion: u.Completion, Reasoning: u.Reasoning}
	if u.Details != nil {
		c.Reasoning = u.Details.Reasoning
	}
	if u.PromptDetails != nil {
		c.Cached = u.PromptDetails.Cached
	}
	return c
}

// outcome is why an exchange is over before its end.
type outcome struct {
	class  Class
	reason string
}

func (o *outcome) Error() string { return o.reason }

var null = []byte("null")

// take reads one event that came at the time.
func (x *exchange) take(at time.Duration, kind, data []byte) error {
	a := x.answer
	if a.FirstEvent == 0 {
		a.FirstEvent = at
	}
	if string(data) == "[DONE]" {
		x.done = true
		return nil
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		if string(kind) == "error" {
			return &outcome{ErrorObject, "the stream says error"}
		}
		return &outcome{Garbage, fmt.Sprintf("an event of %d bytes is no JSON of the protocol", len(data))}
	}
	if err := x.client.failure(&e, kind); err != nil {
		return err
	}
	x.use(&e, at)
	return nil
}

// failure finds an error object.
func (c *Client) failure(e *event, kind []byte) error {
	said := e.Error
	if len(said) == 0 || bytes.Equal(said, null) {
		if e.Object != "error" && string(kind) != "error" {
			return nil
		}
		said = e.Message
	}
	return &outcome{ErrorObject, c.message(said)}
}

// use keeps what an event brought.
func (x *exchange) use(e *event, at time.Duration) {
	a := x.answer
	tokens := 0
	if u := e.Usage; u != nil && (u.Completion > 0 || u.Prompt > 0) {
		tokens = u.Completion - a.Usage.Completion
		a.Usage = u.counted()
	}
	if len(e.Choices) == 0 {
		return
	}
	c := &e.Choices[0]
	if c.Finish != nil && *c.Finish != "" {
		a.Finish = *c.Finish
	}
	if len(c.IDs) > 0 {
		tokens = len(c.IDs)
	}
	x.tokens(c, at, max(tokens, 0))
}

// tokens notes a chunk that carries tokens of any channel. The role alone, or
// empty texts, are no token.
func (x *exchange) tokens(c *choice, at time.Duration, n int) {
	a := x.answer
	answer, reasoning := "", ""
	others := false
	for _, m := range []*message{&c.Delta, &c.Message} {
		answer += string(m.Content)
		reasoning += string(m.ReasoningContent)
		if m.Reasoning != m.ReasoningContent { // aliases of one text on some services
			reasoning += string(m.Reasoning)
		}
		others = others || m.Refusal != "" || len(m.ToolCalls) > 0 || len(m.FunctionCall) > 0 && !bytes.Equal(m.FunctionCall, null)
	}
	answer += string(c.Text)
	if answer == "" && reasoning == "" && !others {
		return
	}
	a.Chunks = append(a.Chunks, Chunk{At: at, Tokens: n})
	if x.thought.answers(answer) || others {
		if a.Answer < 0 {
			a.Answer = len(a.Chunks) - 1
		}
	} else if x.thought.restarts {
		a.Answer = -1 // all that came before was reasoning
	}
	x.thought.restarts = false
	if x.request.Keep {
		x.text.WriteString(answer)
		x.reasoning.WriteString(reasoning)
	}
}
