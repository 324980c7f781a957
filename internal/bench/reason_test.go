package bench

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/openai"
)

// A service that quotes what it refuses puts no prompt into the records, unless texts are kept.
func TestReasonsHoldNoPrompt(t *testing.T) {
	for _, keep := range []bool{false, true} {
		w := evaluate(t, func(a *asked, s *stream) {
			s.w.WriteHeader(http.StatusBadRequest)
			b, _ := json.Marshal(object{"message": "cannot answer: " + a.text()})
			s.w.Write(b)
		}, func(c *Config) { c.Keep, c.Input.Low, c.Input.High = keep, 64, 64 })
		got := w.records[0].Reason
		if !strings.HasPrefix(got, "status 400 cannot answer: ") || strings.HasSuffix(got, ": [prompt]") == keep {
			t.Errorf("keep %v: %q", keep, got)
		}
	}
}

func TestReasonsWithoutPrompts(t *testing.T) {
	const secret = "Tôi tên là Bình,\nsố \"bí mật\" của tôi là 42-17"
	for _, x := range []struct{ reason, want string }{
		{"status 500 no memory", "status 500 no memory"},
		{`refused: Tôi tên là Bình, số "bí mật" của tôi`, "refused: [prompt]"},
		{`refused: T\u00f4i t\u00ean l\u00e0 B\u00ecnh,\ns\u1ed1 \"b\u00ed`, "refused: [prompt]"},
		{"hi, I am Bob is too short", "[prompt]"},
	} {
		q := &openai.Request{Messages: []openai.Message{{Content: "hi, I am Bob"}, {Content: secret}}}
		if got := withoutPrompt(x.reason, q); got != x.want {
			t.Errorf("%q became %q", x.reason, got)
		}
	}
}
