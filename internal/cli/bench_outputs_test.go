package cli

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// A report file that cannot be written is told, and costs no other.
func TestOneFileCostsNoOther(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("no /dev/full here")
	}
	var asked atomic.Int32
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	d, code, errs := benchOf(t, "--url", service(t, &asked), "--metrics-url", "-", "--no-keep", "--out", full, "--html", at("h"), "--csv", at("c"), "--prometheus", at("p"))
	if d.Stages[0].Requests.OK != 6 || code != 1 || !strings.Contains(errs, full) {
		t.Errorf("exit %d: %s", code, errs)
	}
	for _, name := range []string{"h", "c", "p"} {
		if b, err := os.ReadFile(at(name)); err != nil || len(b) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
}

// A store that is named and cannot be used is told before the first request.
func TestStoreIsCheckedFirst(t *testing.T) {
	var asked atomic.Int32
	url := service(t, &asked)
	db := filepath.Join(t.TempDir(), "runs.db")
	if err := os.WriteFile(db, []byte(strings.Repeat("no store ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"bench", "--url", url, "--model", "m", "--isl", "8", "--concurrency", "1", "--no-check", "--metrics-url", "-"}
	var errs strings.Builder
	if code := Run(append(args, "--db", db), strings.NewReader(""), &strings.Builder{}, &errs); code != 2 || asked.Load() != 0 || !strings.Contains(errs.String(), db) {
		t.Errorf("exit %d after %d requests: %s", code, asked.Load(), errs.String())
	}
	t.Setenv("RIDGELINE_DB", db)
	if d, code, errs := benchOf(t, "--url", url, "--metrics-url", "-"); d.Stages[0].Requests.OK != 6 || code != 0 || !strings.HasPrefix(errs, "warning: the run will not be kept: ") {
		t.Errorf("exit %d: %s", code, errs)
	}
}
