package bench

import (
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/openai"
)

// echoed is how many bytes of a prompt, at least, are looked for in a reason: fewer may be
// the service's own words. Stretches of twice as many are found wherever they begin.
const echoed = 16

// withoutPrompt ends a reason where it begins to repeat the request's texts, as they are
// or as JSON writes them: services quote what they refuse.
func withoutPrompt(reason string, q *openai.Request) string {
	if reason == "" {
		return ""
	}
	texts := []string{q.Text}
	for _, m := range q.Messages {
		texts = append(texts, m.Content)
	}
	at := len(reason)
	for _, text := range texts {
		text = strings.Join(strings.Fields(text), " ") // as reasons are
		for _, form := range []string{text, strings.Trim(strconv.QuoteToASCII(text), `"`)} {
			at = min(at, echoOf(form, reason))
		}
	}
	if at == len(reason) {
		return reason
	}
	return strings.ToValidUTF8(reason[:at], "") + "[prompt]"
}

// echoOf is where a reason begins to repeat a text, its length where it does not.
func echoOf(text, reason string) int {
	if len(text) < 2*echoed {
		if i := strings.Index(reason, text); i >= 0 && len(text) >= echoed/2 {
			return i
		}
		return len(reason)
	}
	for i := 0; i+echoed <= len(reason); i += echoed { // some stretch of an echo of twice the length stands here
		if !strings.Contains(text, reason[i:i+echoed]) {
			continue
		}
		from := i
		for from > 0 && strings.Contains(text, reason[from-1:i+echoed]) {
			from--
		}
		return from
	}
	return len(reason)
}
