// Package input opens the files that users name. It refuses what is no file on a
// disk (a pipe would be waited for, a device has no end), bounds what is read,
// strips marks of the encoding and drops what URLs may hide. What the bytes mean is its callers' business.
package input

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"
)

// ErrIrregular is the cause of Open's error for a pipe, a device, a socket or a
// folder.
var ErrIrregular = errors.New("not a regular file; copy the data into one and name that")

// Open opens a regular file for reading. Anything else is an *fs.PathError with
// ErrIrregular, before it is opened: opening a pipe would wait for its writer.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrIrregular}
	}
	return os.Open(path)
}

// Text reads UTF-8 text from r without its byte order mark. UTF-16 and gzip are errors
// here; reading more than most bytes is one of the reader's.
func Text(r io.Reader, most int64) (io.Reader, error) {
	in := bufio.NewReader(&limited{r: r, left: most, most: most})
	head, err := in.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, err := in.Discard(3)
		return in, err
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return nil, errors.New("the text is UTF-16; save it as UTF-8")
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return nil, errors.New("the file is compressed by gzip; unpack it first")
	}
	return in, nil
}

// limited fails where io.LimitedReader would pretend that the file ends.
type limited struct {
	r          io.Reader
	left, most int64
}

func (l *limited) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 { // one more tells a full file from a longer one
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	l.left -= int64(n)
	if l.left < 0 {
		return 0, fmt.Errorf("larger than %d MiB; is this the right file?", l.most>>20)
	}
	return n, err
}

// WithoutSecrets drops user, query and fragment of a URL, which may hold keys; what is none
// stays as it is.
func WithoutSecrets(target string) string {
	if !strings.Contains(target, "://") {
		return target[strings.LastIndex(target, "@")+1:]
	}
	u, err := url.Parse(target)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
