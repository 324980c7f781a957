package openai

import "strings"

// thought follows <think> … </think> in the text of an answer, by which services
// without a parser for reasoning mark it; tags may be split over chunks, and some
// templates open the thought within the prompt, so that only its end is seen.
type thought struct {
	inside   bool
	begun    bool   // past the first text that is not blank
	tail     string // end of the text so far from its last "<", where a tag may begin in it
	fresh    bool   // nothing but blanks since the thought's end
	restarts bool   // an end without a beginning: what came before was reasoning
}

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// answers tells whether a piece of text holds some of the answer.
func (t *thought) answers(piece string) bool {
	if piece == "" {
		return false
	}
	if t.begun && t.tail == "" && !strings.Contains(piece, "<") {
		// No tag ends or begins in it: most pieces are such.
		if t.inside {
			return false
		}
		t.fresh = t.fresh && strings.TrimSpace(piece) == ""
		return !t.fresh
	}
	text := t.tail + piece
	if i := strings.LastIndex(text, thinkClose); i >= 0 {
		t.restarts = !t.inside
		t.inside, t.begun, t.tail = false, true, ""
		t.fresh = strings.TrimSpace(text[i+len(thinkClose):]) == ""
		return !t.fresh
	}
	t.tail = ""
	if i := strings.LastIndexByte(text, '<'); i >= 0 && i > len(text)-len(thinkClose) {
		t.tail = text[i:]
	}
	switch trimmed := strings.TrimSpace(text); {
	case t.inside:
		return false
	case t.begun:
		t.fresh = t.fresh && strings.TrimSpace(piece) == ""
		return !t.fresh
	case trimmed == "":
		return false
	case strings.HasPrefix(trimmed, thinkOpen):
		t.inside, t.begun = true, true
		return false
	case strings.HasPrefix(thinkOpen, trimmed):
		return false // perhaps a tag that is not whole yet
	}
	t.begun = true
	return true
}
