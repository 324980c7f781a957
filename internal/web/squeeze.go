package web

import (
	"compress/gzip"
	"net/http"
	"strings"
	"sync"
)

// squeezed compresses JSON answers for clients that take gzip: catalogues shrink
// to a tenth. No answer holds a secret that its size could tell. Events pass as
// they are, since each is sent at once.
type squeezed struct {
	http.ResponseWriter
	status int // that was asked for and not written yet, 0 = none
	zip    *gzip.Writer
	begun  bool
}

// worthIt is the least size in bytes, about a packet, that is compressed.
const worthIt = 1400

var zips = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // a level that exists
	return z
}}

// squeeze puts compression around next.
func squeeze(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") || r.Method == http.MethodHead {
			next.ServeHTTP(w, r)
			return
		}
		s := &squeezed{ResponseWriter: w}
		next.ServeHTTP(s, r)
		s.close()
	})
}

// Unwrap is for http.ResponseController.
func (s *squeezed) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// WriteHeader waits for the first bytes of JSON: their number decides.
func (s *squeezed) WriteHeader(status int) {
	h := s.Header()
	if s.begun || !strings.Contains(h.Get("Content-Type"), "json") || h.Get("Content-Encoding") != "" {
		s.begin(status)
		return
	}
	s.status = status
}

func (s *squeezed) begin(status int) {
	s.begun, s.status = true, 0
	s.ResponseWriter.WriteHeader(status)
}

func (s *squeezed) Write(b []byte) (int, error) {
	if !s.begun && s.status == 0 {
		s.WriteHeader(http.StatusOK)
	}
	if !s.begun {
		h := s.Header()
		h.Add("Vary", "Accept-Encoding")
		if len(b) >= worthIt {
			h.Set("Content-Encoding", "gzip")
			h.Del("Content-Length")
			s.zip = zips.Get().(*gzip.Writer)
			s.zip.Reset(s.ResponseWriter)
		}
		s.begin(s.status)
	}
	if s.zip != nil {
		return s.zip.Write(b)
	}
	return s.ResponseWriter.Write(b)
}

// close ends what was begun.
func (s *squeezed) close() {
	if s.status != 0 {
		s.begin(s.status)
	}
	if s.zip != nil {
		_ = s.zip.Close() // the client went away: nobody is left to tell
		zips.Put(s.zip)
	}
}
