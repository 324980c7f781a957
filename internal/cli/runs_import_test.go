package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A report of this program's own form whose URL holds a password is kept without it, and none
// is said of it.
func TestImportedDocumentsHoldNoPassword(t *testing.T) {
	dir := t.TempDir()
	name, db := filepath.Join(dir, "report.json"), filepath.Join(dir, "runs.db")
	if err := os.WriteFile(name, []byte(`{"url": "http://joe:pw9@h:8000/v1", "model": "m", "stages": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"import", name, "--db", db, "--json"}, {"show", "last", "--db", db, "--json"}, {"show", "last", "--db", db}, {"list", "--db", db}} {
		var out, errs bytes.Buffer
		if code := Run(append([]string{"runs"}, args...), nil, &out, &errs); code != 0 || strings.Contains(out.String(), "pw9") || args[0] == "show" && !strings.Contains(out.String(), "http://h:8000/v1") {
			t.Errorf("%s: exit %d: %s%s", args[0], code, &out, &errs)
		}
	}
}
