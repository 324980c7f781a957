package cli

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/store"
	"github.com/ridgeline/ridgeline/internal/storetest"
)

// A damaged run cannot be shown, says what takes it away, and that does.
func TestDamagedRunsAreDeleted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	db, err := store.Open(t.Context(), file, true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Add(t.Context(), &store.Run{Kind: "bench", Document: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	storetest.Damage(t, file)
	runs := func(args ...string) error {
		root := newRoot(&Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard})
		root.SetArgs(append(append([]string{"runs"}, args...), "--db", file))
		return root.ExecuteContext(t.Context())
	}
	if err := runs("show", "1"); err == nil || !strings.Contains(err.Error(), "run 1 is damaged: `ridgeline runs delete 1`") {
		t.Errorf("shown: %v", err)
	}
	if err := runs("delete", "1"); err != nil {
		t.Errorf("deleted: %v", err)
	}
	if _, err := db.Find(t.Context(), "1"); !errors.Is(err, store.ErrNone) {
		t.Errorf("found afterwards: %v", err)
	}
}
