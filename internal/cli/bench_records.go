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
// the end: nothing that was received is lost to a moment without room.
type recordFile struct {
	f    *os.File
	end  int64        // of what is whole on disk
	wait bytes.Buffer // lines that are not
}

func createRecords(name string) (*recordFile, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, usagef("--records: %w: name a file that can be written", err)
	}
	return &recordFile{f: f}, nil
}

func (r *recordFile) write(x *bench.Record) error {
	if err := bench.NewRecordWriter(&r.wait).Write(x); err != nil {
		return err
	}
	return r.flush()
}

// flush writes what waits; of a write that failed half way nothing counts.
func (r *recordFile) flush() error {
	n, err := r.f.WriteAt(r.wait.Bytes(), r.end)
	if err != nil {
		return err
	}
	r.end += int64(n)
	r.wait.Reset()
	return nil
}

// close tries once more and leaves a file of whole lines only.
func (r *recordFile) close() error {
	err := r.flush()
	if err != nil {
		lines := bytes.Count(r.wait.Bytes(), []byte("\n"))
		err = errors.Join(fmt.Errorf("%d records could not be written: %w", lines, err), r.f.Truncate(r.end))
	}
	return errors.Join(err, r.f.Close())
}
