package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
	r, err := createRecords(full)
	if err != nil {
		t.Fatal(err)
	}
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
	if list, err := bench.ReadRecords(f, name); err != nil || len(list) != 3 || list[0].ID != "1" {
		t.Errorf("%d records, %v: want all three", len(list), err)
	}
	r = &recordFile{f: disk}
	if r.write(record("4")) == nil || r.close() == nil {
		t.Error("records that could not be written are not told")
	}
}
