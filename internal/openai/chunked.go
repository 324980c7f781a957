package openai

import (
	"bytes"
	"errors"

	"github.com/ridgeline/ridgeline/internal/wire"
)

// chunked takes HTTP's chunked coding (RFC 9112, section 7.1) off a body that comes in
// pieces. It decodes chunks only, of one piece at most: the last one with its trailers, longer
// ones, and whatever is not as it should be, are left to the HTTP library.
type chunked struct {
	head []byte // the begun line before a chunk's data
	left int64  // bytes of the chunk to come, its CR LF included
	// leave asks to be over before the next chunk.
	leave bool
}

// longestHead bounds the line before a chunk's data.
const longestHead = 256

// ending follows a chunk's data.
const ending = "\r\n"

// errChunk is a chunk that does not end where it says.
var errChunk = errors.New("malformed chunked encoding")

// feed calls each with data as it comes. Where over is true without an error rest has to be
// read by another: it begins with the line of a chunk.
func (c *chunked) feed(b []byte, each func([]byte) error) (rest []byte, over bool, err error) {
	for len(b) > 0 {
		if c.left == 0 {
			if c.leave && len(c.head) == 0 {
				return b, true, nil
			}
			i := bytes.IndexByte(b, '\n')
			line := b
			if i >= 0 {
				line = b[:i+1]
			}
			b = b[len(line):]
			if len(c.head) > 0 || i < 0 {
				c.head = append(c.head, line...)
				line = c.head
			}
			if i < 0 && len(line) <= longestHead {
				return nil, false, nil
			}
			n, ok := size(line)
			if !ok || n == 0 || n > wire.Piece {
				return append(bytes.Clone(line), b...), true, nil
			}
			c.head, c.left = c.head[:0], n+int64(len(ending))
			continue
		}
		if n := min(int64(len(b)), c.left-int64(len(ending))); n > 0 {
			data := b[:n]
			b, c.left = b[n:], c.left-n
			if err := each(data); err != nil {
				return nil, true, err
			}
			continue
		}
		if b[0] != ending[int64(len(ending))-c.left] {
			return nil, true, errChunk
		}
		b, c.left = b[1:], c.left-1
	}
	return nil, c.leave && c.left == 0 && len(c.head) == 0, nil
}

// size reads the length of a chunk from its line, without extensions.
func size(line []byte) (n int64, ok bool) {
	const most = 7 // digits: no service sends chunks of 256 MiB
	digits, ok := bytes.CutSuffix(line, []byte("\r\n"))
	if !ok || len(digits) == 0 || len(digits) > most {
		return 0, false
	}
	for _, c := range digits {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		n = n<<4 | int64(c)
	}
	return n, true
}
