package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ridgeline/ridgeline/internal/bench"
	"github.com/ridgeline/ridgeline/internal/store"
)

// smallDisk is a file system that holds some hundred kilobytes.
func smallDisk(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k,mode=700"); err != nil {
		t.Skipf("mounts are not allowed here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill writes a file that leaves no room.
func fill(t *testing.T, path string) {
	f, err := os.Create(path)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	for page := make([]byte, 4096); err == nil; {
		_, err = f.Write(page)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("filling the disk: %v", err)
	}
}

// A disk that fills up during the run costs the keeping and a warning, not the report; the
// store is as before and keeps the next run once there is room. Records that do not fit fail the command
// after the report.
func TestDiskFillsUpDuringARun(t *testing.T) {
	dir := smallDisk(t)
	db, filler := filepath.Join(dir, "runs.db"), filepath.Join(dir, "filler")
	var asked atomic.Int32
	var full sync.Once
	url := relay(t, service(t, &asked), func() { full.Do(func() { fill(t, filler) }) })
	kept := func() int {
		d, err := store.Open(t.Context(), db, false)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		list, err := d.List(t.Context(), store.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	whole := func(d bench.Report) {
		t.Helper()
		if q := d.Stages[0].Requests; q.Sent != 6 || q.OK != 6 || d.Stages[0].TTFT.N != 6 {
			t.Errorf("%+v", q)
		}
	}
	d, code, errs := benchOf(t, "--url", url, "--metrics-url", "-", "--db", db)
	whole(d)
	if code != 0 || strings.Count(errs, "not kept") != 1 || !strings.Contains(errs, "warning: the run is not kept") {
		t.Errorf("exit %d: %s", code, errs)
	}
	records := filepath.Join(dir, "records.jsonl")
	d, code, errs = benchOf(t, "--url", url, "--metrics-url", "-", "--no-keep", "--records", records)
	whole(d)
	if code != 1 || strings.Count(errs, "no space left") != 1 || strings.Contains(errs, "truncate /") {
		t.Errorf("records on a full disk: exit %d: %s", code, errs)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if n := kept(); n != 0 {
		t.Errorf("%d runs of one that did not fit", n)
	}
	d, code, errs = benchOf(t, "--url", url, "--metrics-url", "-", "--db", db, "--records", records)
	whole(d)
	if lines, err := os.ReadFile(records); err != nil || strings.Count(string(lines), "\n") < 6 {
		t.Errorf("%v: %q", err, lines)
	}
	if code != 0 || kept() != 1 {
		t.Errorf("with room again: exit %d, %d kept: %s", code, kept(), errs)
	}
}

// A file that does not fit leaves the older one as it was, says so once, and nothing beside it.
func TestDiskIsFull(t *testing.T) {
	dir := smallDisk(t)
	old, fresh, filler := filepath.Join(dir, "old"), filepath.Join(dir, "fresh"), filepath.Join(dir, "filler")
	if err := writeBytes(old, []byte("as it was")); err != nil {
		t.Fatal(err)
	}
	fill(t, filler)
	for _, name := range []string{old, fresh} {
		err := writeFile(name, func(w io.Writer) (err error) {
			for range 9 { // as a caller that gathers the errors of rows
				_, e := w.Write(make([]byte, 8192))
				err = errors.Join(err, e)
			}
			return err
		})
		data, _ := os.ReadFile(old)
		if err == nil || err.Error() != name+": no space left on device" || string(data) != "as it was" || names(t, dir) != "filler old" {
			t.Errorf("%v; old file %q, folder %s", err, data, names(t, dir))
		}
	}
}

// A line that fits by half is taken back at once: the file holds whole lines whenever the
// program ends.
func TestRecordsAreWholeLines(t *testing.T) {
	name := filepath.Join(smallDisk(t), "records.jsonl")
	r := &recordFile{name: name}
	line := []byte(strings.Repeat("x", 9999) + "\n")
	var err error
	for range 100 {
		if _, err = r.Write(line); err != nil {
			break
		}
	}
	if b, e := os.ReadFile(name); err == nil || e != nil || len(b) == 0 || len(b)%len(line) != 0 {
		t.Errorf("%v; %d bytes, %v", err, len(b), e)
	}
	if err := r.close(); err == nil || !strings.HasPrefix(err.Error(), "1 records could not be written") {
		t.Errorf("%v", err)
	}
}
