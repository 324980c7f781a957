package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/ridgeline/ridgeline/internal/ask"
)

// askedWell refuses a query with parameters that the operation does not have, or
// has once: a misspelt one would be answered as if it had not been given, and of
// two nobody knows which one counts.
func askedWell(h huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(h)
	if p := misasked(r.URL.RawQuery, queryNames(h.Operation())); p != nil {
		refuse(w, p)
		return
	}
	next(h)
}

// queryNames are the parameters of an operation's query.
func queryNames(op *huma.Operation) (names []string) {
	for _, p := range op.Parameters {
		if p.In == "query" {
			names = append(names, p.Name)
		}
	}
	return names
}

// misasked is the first thing wrong with a query, from its start; nil where there is none. What it quotes is names,
// never values.
func misasked(query string, known []string) *Problem {
	given := map[string]bool{}
	for _, pair := range strings.Split(query, "&") {
		if pair == "" {
			continue
		}
		text, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(text)
		if err == nil {
			_, err = url.QueryUnescape(value)
		}
		switch {
		case err != nil || strings.Contains(pair, ";"):
			return about(name, "%q in the query is not written as a URL has it: escape it, and put & between parameters", name)
		case !slices.Contains(known, name) && len(known) == 0:
			return about(name, "unknown query parameter %q: this path takes none, leave it out", name)
		case !slices.Contains(known, name):
			return about(name, "%s", ask.UnknownWord("query parameter", name, known, "use "+strings.Join(known, ", ")))
		case given[name]:
			return about(name, "query parameter %q is given twice: keep one", name)
		case value == "":
			return about(name, "query parameter %q is empty: give it a value, or leave it out", name)
		}
		given[name] = true
	}
	return nil
}

func about(name, format string, args ...any) *Problem {
	p := problem(http.StatusBadRequest, fmt.Sprintf(format, args...))
	p.Field = name
	return p
}
