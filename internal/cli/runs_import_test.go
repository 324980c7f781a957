package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A report of this program's own form whose URL holds a password is kept without it.
func TestImportedDocumentsHoldNoPassword(t *testing.T) {
	name := filepath.Join(t.TempDir(), "report.json")
	if err := os.WriteFile(name, []byte(`{"url": "http://joe:pw9@h:8000/v1", "model": "m", "stages": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := importFile(name, "")
	if err != nil || strings.Contains(string(r.Document), "pw9") || strings.Contains(r.Target, "pw9") || !strings.Contains(string(r.Document), "http://h:8000/v1") {
		t.Errorf("%v: %+v", err, r)
	}
}
