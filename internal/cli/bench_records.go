package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/ridgeline/ridgeline/internal/bench"
)

// recordFile keeps the records of a run on disk, each as it ends. When the disk
// refuses, records wait in memory, and are tried again with the next one and at
// the end: nothing that was received is lost to a moment without room. An older file is
// replaced when the first record comes: until then its records are the last ones there are.
type recordFile struct {
	name string
	f    *os.File     // nil until then
	end  int64        // of what is whole on disk
	wait bytes.Buffer // lines that are not
}

// write adds a record.
func (r *recordFile) write(x *bench.Record) error { return bench.NewRecordWriter(r).Write(x) }

// Write adds a line; one that cannot be written now waits.
func (r *recordFile) Write(line []byte) (int, error) {
	r.wait.Write(line)
	return len(line), r.flush()
}

// open makes the file, empty.
func (r *recordFile) open() (err error) {
	if r.f == nil {
		r.f, err = os.Create(r.name)
	}
	return err
}

// flush writes what waits; of a write that failed half way nothing stays.
func (r *recordFile) flush() error {
	if r.wait.Len() == 0 {
		return nil
	}
	if err := r.open(); err != nil {
		return err
	}
	n, err := r.f.WriteAt(r.wait.Bytes(), r.end)
	if err != nil {
		return errors.Join(err, r.cut())
	}
	r.end += int64(n)
	r.wait.Reset()
	return nil
}

// cut takes half a line away; a device has no end that could be set.
func (r *recordFile) cut() error {
	if info, err := r.f.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	return r.f.Truncate(r.end)
}

// close tries once more.
func (r *recordFile) close() error {
	err := r.flush()
	if err != nil {
		lines := bytes.Count(r.wait.Bytes(), []byte("\n"))
		err = fmt.Errorf("%d records could not be written: %w", lines, err)
	}
	if r.f == nil {
		return err
	}
	return errors.Join(err, r.f.Close())
}
