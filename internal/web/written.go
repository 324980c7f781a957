package web

import (
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// writtenPlainly refuses a body that says of itself that it is packed, or in another
// alphabet than JSON's (RFC 8259, section 8.1): read as it stands it would be another question.
func writtenPlainly(h huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(h)
	if h.Operation().RequestBody != nil {
		if p := miswritten(r.Header); p != nil {
			refuse(w, p)
			return
		}
	}
	next(h)
}

// miswritten is what is wrong with the headers of a body; nil where nothing is.
func miswritten(head http.Header) *Problem {
	for _, packed := range head.Values("Content-Encoding") {
		if packed != "" && !strings.EqualFold(strings.TrimSpace(packed), "identity") {
			return problem(http.StatusUnsupportedMediaType, fmt.Sprintf("the body is packed (Content-Encoding: %s): send it as it is, without that header", packed))
		}
	}
	kind := head.Get("Content-Type")
	if kind == "" {
		return nil // huma takes it for JSON
	}
	_, of, err := mime.ParseMediaType(kind)
	switch alphabet := strings.ToLower(of["charset"]); {
	case err != nil:
		return problem(http.StatusUnsupportedMediaType, fmt.Sprintf("Content-Type %q is no media type: send the body with Content-Type: application/json", kind))
	case alphabet != "" && alphabet != "utf-8" && alphabet != "us-ascii":
		return problem(http.StatusUnsupportedMediaType, fmt.Sprintf("the body is in charset %s: JSON is UTF-8, send it so with Content-Type: application/json", alphabet))
	}
	return nil
}
