package openai

// quick reads the chunks that services send most, in an eighth of the time that a general
// reader takes, without a tree and nearly without memory: one choice whose texts have no escapes, and a flat count of tokens. It checks
// what it passes over as strictly as the full reader does. ok is false wherever it sees
// anything else, valid or not: the full reader then decides.
func quick(data []byte) (e event, ok bool) {
	s := scanner{data: data}
	ok = s.object(func(key []byte) bool {
		switch string(key) {
		case "error":
			return s.null()
		case "message", "detail":
			return false
		case "object":
			text, plain := s.text()
			e.object = chunkObject
			return plain && (string(text) == chunkObject || string(text) == completionObject)
		case "choices":
			return s.choices(&e)
		case "usage":
			return s.usage(&e)
		}
		return s.skip(0)
	}) && s.end()
	return e, ok
}

// The objects of a stream's chunks.
const (
	chunkObject      = "chat.completion.chunk"
	completionObject = "text_completion"
)

// choices reads no choice, or one.
func (s *scanner) choices(e *event) bool {
	if !s.take('[') {
		return false
	}
	if s.take(']') {
		return true
	}
	e.some = true
	return s.object(func(key []byte) bool {
		switch string(key) {
		case "text":
			return s.add(&e.choice.answer)
		case "delta":
			return s.delta(&e.choice)
		case "message":
			return false
		case "finish_reason":
			e.choice.finish = ""
			return s.null() || s.reason(&e.choice.finish)
		case "token_ids":
			return s.null()
		}
		return s.skip(0)
	}) && s.take(']')
}

// reason reads why an answer ended; the usual words take no memory.
func (s *scanner) reason(into *string) bool {
	text, ok := s.text()
	switch string(text) {
	case "stop":
		*into = "stop"
	case "length":
		*into = "length"
	default:
		*into = string(text)
	}
	return ok
}

// delta reads the channels of text; calls of tools and refusals are left to the full reader.
func (s *scanner) delta(c *choice) bool {
	return s.object(func(key []byte) bool {
		switch string(key) {
		case "content":
			return s.null() || s.add(&c.answer)
		case "reasoning_content", "reasoning":
			if s.null() {
				return true
			}
			text, ok := s.text()
			if string(text) != c.reasoning { // aliases of one text on some services
				c.reasoning += string(text)
			}
			return ok
		case "refusal", "function_call":
			return s.null()
		case "tool_calls":
			return s.null() || s.take('[') && s.take(']')
		}
		return s.skip(0)
	})
}

// usage reads whole counts; details that are objects are left to the full reader.
func (s *scanner) usage(e *event) bool {
	if s.null() {
		return true
	}
	e.usage = Usage{Known: true}
	u := &e.usage
	return s.object(func(key []byte) bool {
		switch string(key) {
		case "prompt_tokens":
			return s.count(&u.Prompt)
		case "completion_tokens":
			return s.count(&u.Completion)
		case "reasoning_tokens":
			return s.count(&u.Reasoning)
		case "completion_tokens_details", "prompt_tokens_details":
			return s.null()
		}
		return s.skip(0)
	})
}
