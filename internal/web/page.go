package web

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// dist is the built front end; see web/README.md. A build without it serves a
// page that says how to make it.
//
//go:embed all:dist
var dist embed.FS

// asset is a file of the page, ready to be sent.
type asset struct {
	kind         string
	plain, small []byte // small is gzip, nil where that does not pay
	forever      bool   // its name changes with its content
}

// servePage adds the page and its assets. Only embedded names exist: no path
// reaches the disk.
func servePage(mux *http.ServeMux, description *huma.OpenAPI) {
	files := assets(dist)
	mux.HandleFunc("GET /openapi.json", described(description).send)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { files["/index.html"].send(w, r) })
	mux.HandleFunc("GET /docs", func(w http.ResponseWriter, r *http.Request) { files["/docs.html"].send(w, r) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		a := files[path.Clean(r.URL.Path)]
		if r.URL.Path == "/" {
			a = files["/index.html"]
		}
		methods := []string{http.MethodGet, http.MethodHead}
		if a == nil {
			methods = others(mux, r)
		}
		switch {
		case a == nil && len(methods) > 0:
			w.Header().Set("Allow", strings.Join(methods, ", "))
			refuse(w, problem(http.StatusMethodNotAllowed, fmt.Sprintf("%s is not for this path: use %s, /docs describes the API", r.Method, strings.Join(methods, " or "))))
		case a == nil:
			refuse(w, problem(http.StatusNotFound, "nothing is here: / is the page, /docs describes the API"))
		case !slices.Contains(methods, r.Method):
			w.Header().Set("Allow", strings.Join(methods, ", "))
			refuse(w, problem(http.StatusMethodNotAllowed, "this is a file: GET it"))
		default:
			a.send(w, r)
		}
	})
}

// described is the API's description as a file.
func described(d *huma.OpenAPI) *asset {
	b, err := json.Marshal(d)
	if err != nil {
		panic(err) // a defect of the handlers' types
	}
	a := newAsset("/openapi.json", b)
	a.kind = "application/openapi+json"
	return a
}

// others are the methods that a path takes; the catch-all of the page hides them from mux.
func others(mux *http.ServeMux, r *http.Request) (methods []string) {
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		to := r.Clone(r.Context())
		to.Method = m
		if _, pattern := mux.Handler(to); pattern != "/" {
			methods = append(methods, m)
		}
	}
	return methods
}

// assets reads the embedded files, with the pages that need no build.
func assets(built fs.FS) map[string]*asset {
	files := map[string]*asset{}
	for _, tree := range []struct {
		from fs.FS
		root string
	}{{pages, "pages"}, {built, "dist"}} {
		// A tree in the binary cannot fail to be read.
		_ = fs.WalkDir(tree.from, tree.root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
				return err
			}
			data, err := fs.ReadFile(tree.from, name)
			if err == nil {
				at := strings.TrimPrefix(name, tree.root)
				files[at] = newAsset(at, data)
			}
			return err
		})
	}
	if files["/index.html"] == nil {
		files["/index.html"] = files["/unbuilt.html"]
	}
	delete(files, "/unbuilt.html")
	return files
}

// pages are those that need no build: the API's description, and what to say
// where the front end was not built.
//
//go:embed pages
var pages embed.FS

// kinds are the media types of what a front end holds; the machine's own table
// differs from system to system.
var kinds = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/x-icon", ".woff2": "font/woff2",
	".webmanifest": "application/manifest+json", ".txt": "text/plain; charset=utf-8", ".wasm": "application/wasm"}

func newAsset(name string, data []byte) *asset {
	a := &asset{kind: cmp.Or(kinds[path.Ext(name)], "application/octet-stream"), plain: data, forever: strings.HasPrefix(name, "/assets/")}
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // a level that exists
	_, _ = w.Write(data)                                  // into memory: cannot fail
	if w.Close() == nil && b.Len() < len(data)*9/10 {
		a.small = b.Bytes()
	}
	return a
}

func (a *asset) send(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if a.forever {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	data := a.plain
	if a.small != nil && accepts(r.Header.Values("Accept-Encoding"), "gzip") {
		data = a.small
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(data) // the client went away: nobody is left to tell
	}
}
