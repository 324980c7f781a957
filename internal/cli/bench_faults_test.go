package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ridgeline/ridgeline/internal/bench"
)

// benchOf runs bench with --json and gives its report.
func benchOf(t *testing.T, args ...string) (d bench.Report, code int, errs string) {
	t.Helper()
	var out, said bytes.Buffer
	code = Run(append([]string{"bench", "--model", "m", "--isl", "8", "--osl", "2", "--concurrency", "2", "--requests", "6", "--warmup", "0", "--no-check", "--json"}, args...), strings.NewReader(""), &out, &said)
	if err := json.Unmarshal(out.Bytes(), &d); err != nil || len(d.Stages) != 1 {
		t.Fatalf("exit %d, %v: %s%s", code, err, out.String(), said.String())
	}
	return d, code, said.String()
}

// A service whose certificate nobody signed: every request ends in one counted class, and
// there is a report.
func TestFailedHandshakesAreCounted(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	d, _, _ := benchOf(t, "--url", s.URL+"/v1", "--no-keep")
	if q := d.Stages[0].Requests; q.Sent != 6 || q.Failed != 6 || d.Stages[0].Classes["tls"] != 6 {
		t.Errorf("%+v %v", q, d.Stages[0].Classes)
	}
}

// A store that goes away during the run costs the keeping and a warning, not the report.
func TestReportOutlivesItsStore(t *testing.T) {
	db := filepath.Join(t.TempDir(), "runs.db")
	var asked atomic.Int32
	gone := relay(t, service(t, &asked), func() {
		if asked.Load() == 0 { // what stands in its place is no store
			os.RemoveAll(db)
			os.MkdirAll(db, 0o700)
		}
		asked.Add(1)
	})
	d, code, errs := benchOf(t, "--url", gone, "--metrics-url", "-", "--db", db)
	if d.Stages[0].Requests.OK != 6 || code != 0 || strings.Count(errs, "not kept") != 1 || !strings.Contains(errs, "warning: the run is not kept") {
		t.Errorf("exit %d, %+v: %s", code, d.Stages[0].Requests, errs)
	}
}
