package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// writeFile writes a file that the user named: beside it, and in its place once it is whole,
// so that a write that fails, or an interrupt that makes write give up, leaves an older file as
// it was and no new one. Pipes and devices are written to directly. A name that cannot be created is
// bad input, a write that fails a failure, worded once; write's own errors come back as they are.
func writeFile(name string, write func(io.Writer) error) error {
	s, err := stage(name, write)
	if err != nil {
		return err
	}
	return s.commit()
}

// outFile is a file to be written; one without a name is none.
type outFile struct {
	name string
	data []byte
}

// writeFiles writes files that belong together: none takes its place before all are whole.
func writeFiles(files ...outFile) error {
	var list []*staged
	for _, f := range files {
		if f.name == "" {
			continue
		}
		s, err := stage(f.name, func(w io.Writer) error { _, err := w.Write(f.data); return err })
		if err != nil {
			for _, s := range list {
				err = s.drop(err)
			}
			return err
		}
		list = append(list, s)
	}
	for i, s := range list {
		if err := s.commit(); err != nil {
			for _, s := range list[i+1:] {
				err = s.drop(err)
			}
			return err
		}
	}
	return nil
}

// staged is a whole file that waits beside target, which it is to replace; beside "" = it is written already.
type staged struct {
	name, beside, target string
	mode                 fs.FileMode // of the older file; 0 = there was none
}

func stage(name string, write func(io.Writer) error) (*staged, error) {
	s := &staged{name: name, target: name}
	if whole, err := filepath.EvalSymlinks(name); err == nil {
		s.target = whole // what a link leads to is replaced, not the link
	}
	was, err := os.Stat(s.target)
	switch {
	case err == nil && was.IsDir():
		return nil, usagef("%s is a folder: name a file that can be written", name)
	case err == nil:
		s.mode = was.Mode().Perm()
		f, err := os.OpenFile(s.target, os.O_WRONLY, 0) // what may not be written is not replaced either
		if err != nil {
			return nil, usagef("%w: name a file that can be written", err)
		}
		if !was.Mode().IsRegular() {
			return s, writeWhole(f, name, write)
		}
		f.Close()
	}
	f, err := beside(s.target)
	if err != nil {
		return nil, usagef("%s: %w: name a file in a folder that can be written", name, bare(err))
	}
	s.beside = f.Name()
	if err := writeWhole(f, name, write); err != nil {
		return nil, s.drop(err)
	}
	return s, nil
}

// commit puts the file in its place, with the rights of the older one.
func (s *staged) commit() (err error) {
	if s.beside == "" {
		return nil
	}
	if s.mode != 0 {
		err = os.Chmod(s.beside, s.mode)
	}
	if err == nil {
		err = os.Rename(s.beside, s.target)
	}
	if err != nil {
		return s.drop(fmt.Errorf("%s: %w", s.name, bare(err)))
	}
	return nil
}

// drop takes the waiting file away and gives err, by which it is not needed.
func (s *staged) drop(err error) error {
	if s.beside == "" {
		return err
	}
	if gone := os.Remove(s.beside); gone != nil {
		return errors.Join(err, gone)
	}
	return err
}

// writeWhole writes a file and closes it; the first write that failed says what did.
func writeWhole(f *os.File, name string, write func(io.Writer) error) error {
	b := bufio.NewWriter(f) // remembers that error, and writes no more
	own := write(b)
	err := b.Flush()
	if own == nil && err == nil {
		if info, e := f.Stat(); e == nil && info.Mode().IsRegular() {
			err = f.Sync() // a disk may say only here that it is full
		}
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, bare(err))
	}
	return own
}

// beside creates an empty file in the folder of name, with the rights of a new file.
func beside(name string) (*os.File, error) {
	for {
		f, err := os.OpenFile(filepath.Join(filepath.Dir(name), fmt.Sprintf(".ridgeline-%08x.tmp", rand.Uint32())), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// bare is an error of a file without the name that it happened to have.
func bare(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// writeBytes is writeFile of what is whole already.
func writeBytes(name string, data []byte) error { return writeFiles(outFile{name, data}) }

// writable tells of a file that writeFile could not write, before long work; one that
// is there keeps what it holds, one that is not does not appear. "" is no file.
func writable(flag, name string) error {
	if name == "" {
		return nil
	}
	was, missing := os.Stat(name)
	if missing == nil && !was.Mode().IsRegular() && !was.IsDir() {
		return nil // a pipe or a device: opening it has effects
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return usagef("--%s: %w: name a file that can be written", flag, err)
	}
	err = f.Close()
	if errors.Is(missing, fs.ErrNotExist) {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}
