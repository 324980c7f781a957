package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ridgeline/ridgeline/internal/bench"
)

// A disk that is full for a while loses nothing; one that stays full leaves whole
// lines and says how many are missing.
func TestRecordsOutliveAFullDisk(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); errors.Is(err, fs.ErrNotExist) {
		t.Skip("no /dev/full here")
	}
	r := &recordFile{name: full}
	record := func(id string) *bench.Record {
		return &bench.Record{ID: id, Origin: &bench.Origin{Run: "r"}, Outcome: bench.OK, Answer: -1, End: 1}
	}
	for _, id := range []string{"1", "2"} {
		if r.write(record(id)) == nil {
			t.Error("a full disk takes a record")
		}
	}
	name := filepath.Join(t.TempDir(), "records.jsonl")
	disk := r.f
	var err error
	if r.f, err = os.Create(name); err != nil { // there is room again
		t.Fatal(err)
	}
	if err := errors.Join(r.write(record("3")), r.close()); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if x, err := bench.ReadRecords(f, name); err != nil || len(x.Records) != 3 || x.Records[0].ID != "1" {
		t.Errorf("%+v, %v: want all three", x, err)
	}
	r = &recordFile{f: disk}
	if r.write(record("4")) == nil || r.close() == nil {
		t.Error("records that could not be written are not told")
	}
}

// A service that does not answer costs the records of the run before nothing; a run that
// records something replaces them whole.
func TestRecordsOfTheLastRunStay(t *testing.T) {
	name := filepath.Join(t.TempDir(), "records.jsonl")
	before := strings.Repeat("of the run before\n", 1000)
	if err := os.WriteFile(name, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"bench", "--url", "http://127.0.0.1:1/v1", "--model", "m", "--isl", "8", "--concurrency", "1", "--no-keep", "--records", name}
	if code := Run(args, strings.NewReader(""), io.Discard, io.Discard); code != 1 {
		t.Errorf("exit %d", code)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != before {
		t.Errorf("%d bytes are left, %v", len(b), err)
	}
	var asked atomic.Int32
	if d, code, errs := benchOf(t, "--url", service(t, &asked), "--metrics-url", "-", "--no-keep", "--records", name); code != 0 || d.Records != name {
		t.Errorf("exit %d, records %q: %s", code, d.Records, errs)
	}
	if b, err := os.ReadFile(name); err != nil || strings.Contains(string(b), "before") || strings.Count(string(b), "\n") != 6 {
		t.Errorf("%v: %s", err, b)
	}
}
