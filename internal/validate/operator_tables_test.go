package validate

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Links to folders of tables are followed, one that leads back up is named.
func TestOperatorTablesFollowLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	dir := t.TempDir()
	real, linked := filepath.Join(dir, "real", "gemm"), filepath.Join(dir, "tables")
	for _, d := range []string{real, linked} {
		if err := os.MkdirAll(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(real, "x.parquet"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{filepath.Join(linked, "h100"): filepath.Join(dir, "real"), filepath.Join(real, "up"): linked} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	tables, loops, err := OperatorTables(linked)
	if err != nil || len(tables) != 1 || tables[0] != filepath.Join(linked, "h100", "gemm", "x.parquet") {
		t.Errorf("tables %q, %v", tables, err)
	}
	if len(loops) != 1 || loops[0].ID != "h100/gemm/up" || !strings.Contains(loops[0].Reason, "leads back") {
		t.Errorf("loops %v", loops)
	}
}

// A context that ended predicts nothing, whichever kind.
func TestInterruptedTables(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.parquet"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	// Nothing sends where no table was begun: only the context can end this.
	if _, err := Operators(ctx, dir, &lines); !errors.Is(err, context.Canceled) || lines.Len() > 0 {
		t.Errorf("operators: %v, %d bytes", err, lines.Len())
	}
	if d := Serving(ctx, make([]ServingRun, 3), nil, &ServingPredictor{}); d.Scored+len(d.Skipped) != 0 || d.Rows != 3 {
		t.Errorf("serving: %d of %d rows", d.Scored+len(d.Skipped), d.Rows)
	}
}
