package openai

import (
	"fmt"
	"time"

	"github.com/tidwall/gjson"
)

// event is what is read of a chunk of a stream, or of a whole answer. Raw texts
// are JSON, "" where the key is missing.
type event struct {
	failure string // raw: of an error object
	message string // raw: of a bare error object
	detail  string // raw: of FastAPI's errors
	object  string
	some    bool // there is a choice
	choice  choice
	usage   Usage // Known where there is one
}

// choice is the first one: more are never asked for.
type choice struct {
	answer    string // content, or the text of completions
	reasoning string
	others    bool // a refusal, a tool call
	finish    string
	ids       int // tokens that vLLM lists, where asked for
}

// parse reads one JSON text; ok is false where it is none, or where it is no object.
func parse(data []byte) (e event, ok bool) {
	if e, ok = quick(data); ok {
		return e, true
	}
	return parseAny(data)
}

// parseAny reads any text, in a single pass.
func parseAny(data []byte) (e event, ok bool) {
	if !gjson.ValidBytes(data) {
		return e, false
	}
	root := gjson.ParseBytes(data)
	if !root.IsObject() {
		return e, false
	}
	root.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "error":
			if v.Type != gjson.Null {
				e.failure = v.Raw
			}
		case "message":
			e.message = v.Raw
		case "detail":
			e.detail = v.Raw
		case "object":
			e.object = v.Str
		case "choices":
			v.ForEach(func(_, c gjson.Result) bool {
				e.some = true
				e.choice.read(c)
				return false
			})
		case "usage":
			if v.IsObject() {
				e.usage = readUsage(v)
			}
		}
		return true
	})
	return e, true
}

func (c *choice) read(v gjson.Result) {
	v.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "text":
			c.answer += v.String()
		case "delta", "message":
			c.readMessage(v)
		case "finish_reason":
			c.finish = v.Str
		case "token_ids":
			c.ids = len(v.Array())
		}
		return true
	})
}

// readMessage reads the channels on which tokens come.
func (c *choice) readMessage(v gjson.Result) {
	v.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "content":
			c.answer += content(v)
		case "reasoning_content", "reasoning":
			if text := content(v); text != c.reasoning { // aliases of one text on some services
				c.reasoning += text
			}
		case "refusal":
			c.others = c.others || v.Str != ""
		case "tool_calls":
			c.others = c.others || v.IsArray() && v.Raw != "[]" && len(v.Array()) > 0
		case "function_call":
			c.others = c.others || v.IsObject()
		}
		return true
	})
}

// content is a string, or a list of parts as some services write it.
func content(v gjson.Result) (text string) {
	if !v.IsArray() {
		return v.Str
	}
	v.ForEach(func(_, part gjson.Result) bool {
		text += part.Get("text").Str
		if t := part.Get("thinking"); t.Exists() {
			text += content(t)
		}
		return true
	})
	return text
}

func readUsage(v gjson.Result) Usage {
	u := Usage{Known: true}
	v.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "prompt_tokens":
			u.Prompt = count(v)
		case "completion_tokens":
			u.Completion = count(v)
		case "reasoning_tokens": // SGLang's place
			u.Reasoning = count(v)
		case "completion_tokens_details":
			if r := v.Get("reasoning_tokens"); r.Exists() {
				u.Reasoning = count(r)
			}
		case "prompt_tokens_details":
			u.Cached = count(v.Get("cached_tokens"))
		}
		return true
	})
	return u
}

// count refuses what is no count of tokens.
func count(v gjson.Result) int {
	const most = 1 << 30
	if n := v.Num; n >= 0 && n <= most {
		return int(n)
	}
	return 0
}

// outcome is why an exchange is over before its end.
type outcome struct {
	class  Class
	reason string
}

func (o *outcome) Error() string { return o.reason }

// saysError is the reason of an error that has none of its own.
const saysError = "the stream says error"

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
	e, ok := parse(data)
	failed := string(kind) == "error"
	switch {
	case !ok && failed:
		return &outcome{ErrorObject, saysError}
	case !ok:
		return &outcome{Garbage, fmt.Sprintf("an event of %d bytes is no JSON of the protocol", len(data))}
	case e.failure != "" || e.object == "error" || failed:
		reason := x.client.complaint(&e)
		if reason == "" {
			reason = saysError
		}
		return &outcome{ErrorObject, reason}
	}
	x.use(&e, at)
	return nil
}

// use keeps what an event brought.
func (x *exchange) use(e *event, at time.Duration) {
	a := x.answer
	tokens := 0
	if u := e.usage.possible(); u.Known && (u.Completion > 0 || u.Prompt > 0) {
		tokens = u.Completion - a.Usage.Completion
		a.Usage = u
	}
	if !e.some {
		return
	}
	x.withChoice = a.Usage.Completion
	c := &e.choice
	if c.finish != "" {
		a.Finish = c.finish
	}
	if c.ids > 0 {
		tokens = c.ids
	}
	x.tokens(c, at, max(tokens, 0))
}

// tokens notes a chunk that carries tokens of any channel. The role alone, or
// empty texts, are no token.
func (x *exchange) tokens(c *choice, at time.Duration, n int) {
	a := x.answer
	if c.answer == "" && c.reasoning == "" && !c.others {
		return
	}
	a.Chunks = append(a.Chunks, Chunk{At: at, Tokens: n})
	if x.request.Seen != nil {
		x.request.Seen.Add(int64(max(n, 1)))
	}
	if x.thought.answers(c.answer) || c.others {
		if a.Answer < 0 {
			a.Answer = len(a.Chunks) - 1
		}
	} else if x.thought.restarts {
		a.Answer = -1 // all that came before was reasoning
	}
	x.thought.restarts = false
	if x.request.Keep {
		x.text.WriteString(c.answer)
		x.reasoning.WriteString(c.reasoning)
	}
}
