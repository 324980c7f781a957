package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// policy allows what the page itself brings and nothing inline, from anywhere
// else, or in a frame. Charts go to images as blobs.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; " +
	"worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// headers of every answer.
var headers = map[string]string{
	"Content-Security-Policy":      policy,
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Permissions-Policy":           "camera=(), geolocation=(), microphone=()",
}

// guard answers only requests that were meant for this server: by the name in
// Host, so that a page whose name was rebound to this address gets nothing; by
// Origin, so that other pages cannot post; and by the token where one is set.
type guard struct {
	next  http.Handler
	hosts []string           // names beside addresses that Host may bear, lower case
	token *[sha256.Size]byte // of the API; nil = none is needed
}

// loopbackHosts are the names of this machine to itself.
var loopbackHosts = []string{"localhost"}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer defect(w)
	for k, v := range headers {
		w.Header().Set(k, v)
	}
	switch {
	case !g.ours(r.Host, r):
		refuse(w, problem(http.StatusMisdirectedRequest, "this server does not answer to that Host: call it by its address, or allow the name when it is started"))
	case !sameOrigin(r):
		refuse(w, problem(http.StatusForbidden, "requests from other pages are refused: open the page that this server serves"))
	case needsToken(r.URL.Path) && !g.knows(r):
		w.Header().Set("WWW-Authenticate", `Bearer realm="ridgeline"`)
		refuse(w, problem(http.StatusUnauthorized, "a token is needed: send it as Authorization: Bearer TOKEN"))
	default:
		g.next.ServeHTTP(w, r)
	}
}

// defect answers where a handler panicked: the server goes on.
func defect(w http.ResponseWriter) {
	if v := recover(); v != nil {
		if v == http.ErrAbortHandler {
			panic(v)
		}
		refuse(w, defective(v))
	}
}

// defective is the answer where v was panicked with.
func defective(v any) *Problem {
	return problem(http.StatusInternalServerError, fmt.Sprintf("a defect of Ridgeline: %v", v))
}

// ours tells whether host names this server: an address literal that the request
// came in on, or a name that was allowed. Names are what rebinding uses.
func (g *guard) ours(host string, r *http.Request) bool {
	name, err := hostname(host)
	if err != nil {
		return false
	}
	if slices.Contains(g.hosts, strings.ToLower(strings.TrimSuffix(name, "."))) {
		return true
	}
	addr, err := netip.ParseAddr(name)
	if err != nil {
		return false
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return addr.IsLoopback()
	}
	at, err := netip.ParseAddrPort(local.String())
	return err == nil && at.Addr().Unmap().WithZone("") == addr.Unmap().WithZone("")
}

// hostname is a Host header without its port.
func hostname(host string) (string, error) {
	u, err := url.Parse("http://" + host)
	if err != nil || u.Host != host || u.Hostname() == "" {
		return "", errHost
	}
	return u.Hostname(), nil
}

// sameOrigin tells whether a browser sent the request for a page of this server,
// or no page did. Opening the page from a link elsewhere is fine: it is a
// navigation, and reads nothing.
func sameOrigin(r *http.Request) bool {
	if origins := r.Header.Values("Origin"); len(origins) > 0 {
		u, err := url.Parse(origins[0])
		return err == nil && len(origins) == 1 && u.Host == r.Host && u.Path == "" && (u.Scheme == "http" || u.Scheme == "https")
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Method == http.MethodGet && !needsToken(r.URL.Path)
}

// needsToken tells the API, which holds data, from the page, which holds none.
func needsToken(path string) bool { return strings.HasPrefix(path, "/api/") }

// knows compares in constant time, whatever the lengths.
func (g *guard) knows(r *http.Request) bool {
	if g.token == nil {
		return true
	}
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(given)))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1
}

func refuse(w http.ResponseWriter, p *Problem) {
	w.Header().Set("Content-Type", p.ContentType(""))
	w.Header().Set("Cache-Control", "no-store")
	maps.Copy(w.Header(), p.GetHeaders())
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client went away: nobody is left to tell
}
