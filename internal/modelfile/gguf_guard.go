package modelfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// Limits of a header. The largest published one, of a 671 B model, has about
// 1,100 tensors and 60 keys with a 130,000-word vocabulary.
const (
	maxGGUFTensors = 1 << 20
	maxGGUFKeys    = 1 << 16
	maxGGUFName    = 1 << 16
	maxGGUFDepth   = 4 // arrays of arrays
	maxGGUFString  = 16 << 20
	maxGGUFEntries = 4 << 20   // of all arrays together: words, scores and merges of a vocabulary
	maxGGUFHeader  = 256 << 20 // bytes; a file may be sparse, so its size bounds no time
)

// ggufWalk steps over a header without keeping it. Every length is held against
// the bytes that are left, so that the library that decodes the header afterwards
// cannot be made to allocate more than the file's own size or to seek astray.
type ggufWalk struct {
	r       *bufio.Reader
	left    int64 // bytes
	entries int64 // of arrays so far
	err     error
}

// checkGGUF walks the header of a GGUF file (versions 2 and 3, little endian) of
// size bytes. The error says which length is a lie.
func checkGGUF(r io.Reader, size int64) error {
	w := &ggufWalk{r: bufio.NewReaderSize(r, 1<<16), left: min(size, maxGGUFHeader)}
	if magic := w.number(4); w.err != nil || magic != 0x46554747 { // "GGUF"
		return errors.New("not a GGUF file: it does not start with GGUF; give a little-endian GGUF file")
	}
	if version := w.number(4); w.err == nil && (version < 2 || version > 3) {
		return fmt.Errorf("GGUF version %d is not supported; convert the file to version 3", version)
	}
	// A tensor takes at least 24 bytes of header, a key 13.
	tensors := w.count("tensor count", w.number(8), 24, maxGGUFTensors)
	keys := w.count("metadata count", w.number(8), 13, maxGGUFKeys)
	for range keys {
		w.keyValue()
		if w.err != nil {
			return w.err
		}
	}
	for range tensors {
		w.tensor()
		if w.err != nil {
			return w.err
		}
	}
	return w.err
}

func (w *ggufWalk) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// number reads a little-endian integer of 1 to 8 bytes.
func (w *ggufWalk) number(width int) uint64 {
	var buf [8]byte
	w.take(buf[:width])
	return binary.LittleEndian.Uint64(buf[:])
}

func (w *ggufWalk) take(p []byte) {
	if w.err != nil {
		return
	}
	if _, err := io.ReadFull(w.r, p); err != nil {
		w.fail("the header ends early; is the file complete?")
	}
	w.left -= int64(len(p))
}

// count checks that n items of at least width bytes fit into the rest of the file.
func (w *ggufWalk) count(what string, n uint64, width, most int64) uint64 {
	if w.err == nil && (n > uint64(most) || int64(n) > w.left/width) {
		w.fail("%s is %d, more than a header can hold; the file is damaged", what, n)
	}
	if w.err != nil {
		return 0
	}
	return n
}

func (w *ggufWalk) text(what string, most int64) string {
	n := w.count("length of "+what, w.number(8), 1, most)
	if n > maxGGUFName {
		w.skip(int64(n))
		return ""
	}
	buf := make([]byte, n)
	w.take(buf)
	return string(buf)
}

func (w *ggufWalk) skip(n int64) {
	if w.err != nil {
		return
	}
	if _, err := io.CopyN(io.Discard, w.r, n); err != nil {
		w.fail("the header ends early; is the file complete?")
	}
	w.left -= n
}

// ggufWidths is the bytes of a scalar by value type: u8 i8 u16 i16 u32 i32 f32
// bool, string and array (0), u64 i64 f64.
var ggufWidths = [...]int{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8}

const ggufString, ggufArray = 8, 9

func (w *ggufWalk) keyValue() {
	key := w.text("a key", maxGGUFName)
	kind := w.number(4)
	if kind >= uint64(len(ggufWidths)) {
		w.fail("metadata %s has type %d, which does not exist; the file is damaged", show(key), kind)
		return
	}
	// The library divides by the one and allocates by the other.
	if key == "general.alignment" && kind != 4 || key == "split.tensors.count" && (kind > 5 && kind < 10 || kind == 12) {
		w.fail("metadata %s has type %d; it must be an integer", key, kind)
		return
	}
	switch kind {
	case ggufString:
		w.text(show(key), maxGGUFString)
	case ggufArray:
		w.array(key, 1)
	default:
		v := w.number(ggufWidths[kind])
		if key == "general.alignment" && (v == 0 || v > 1<<20 || v%8 != 0) {
			w.fail("general.alignment is %d; it must be a multiple of 8", v)
		}
		if key == "split.tensors.count" && v > maxGGUFTensors {
			w.fail("split.tensors.count is %d, more than a model has; the file is damaged", v)
		}
	}
}

func (w *ggufWalk) array(key string, depth int) {
	kind := w.number(4)
	if kind >= uint64(len(ggufWidths)) || depth > maxGGUFDepth {
		w.fail("metadata %s holds items of type %d, %d deep; the file is damaged", show(key), kind, depth)
		return
	}
	width := int64(ggufWidths[kind])
	if width == 0 {
		width = 8 // a string has its length, an array a type and a length
	}
	n := w.count("length of "+show(key), w.number(8), width, maxGGUFEntries-w.entries)
	w.entries += int64(n)
	if ggufWidths[kind] > 0 {
		w.skip(int64(n) * width)
		return
	}
	for range n {
		if w.err != nil {
			return
		}
		if kind == ggufString {
			w.text(show(key), maxGGUFString)
		} else {
			w.array(key, depth+1)
		}
	}
}

func (w *ggufWalk) tensor() {
	name := w.text("a tensor's name", maxGGUFName)
	dims := w.number(4)
	if dims < 1 || dims > 4 {
		w.fail("tensor %s has %d dimensions; GGUF allows 1 to 4", show(name), dims)
		return
	}
	elements := uint64(1)
	for range dims {
		d := w.number(8)
		hi, lo := bits.Mul64(elements, d)
		if hi != 0 || lo > 1<<50 || d == 0 {
			w.fail("tensor %s has a dimension of %d; the file is damaged", show(name), d)
			return
		}
		elements = lo
	}
	w.number(4) // type: the library knows which exist
	w.number(8) // offset
}
