package ggufwrite

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
)

// The types of metadata values (gguf.h, enum gguf_type).
const (
	kindUint32  = 4
	kindInt32   = 5
	kindFloat32 = 6
	kindBool    = 7
	kindString  = 8
	kindArray   = 9
)

// align is general.alignment's default.
const align = 32

// Write writes the file.
func (c *Config) Write(to io.Writer) error {
	if err := c.Check(); err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(to, 1<<20)
	w := &writer{w: buffered}
	list, keys := c.tensors(), c.metadata()
	w.put([]byte("GGUF"))
	w.number(uint32(3))
	w.number(uint64(len(list)))
	w.number(uint64(len(keys)))
	for _, kv := range keys {
		w.text(kv.key)
		w.value(kv.value)
	}
	offset := uint64(0)
	for i := range list {
		t := &list[i]
		w.text(t.name)
		w.number(uint32(len(t.dims)))
		for _, d := range t.dims {
			w.number(uint64(d))
		}
		w.number(t.id)
		w.number(offset)
		offset += (uint64(t.bytes()) + align - 1) / align * align
	}
	rng := rand.NewPCG(c.Seed, 0x9e3779b97f4a7c15)
	for i := range list {
		w.pad()
		if w.err == nil {
			w.err = list[i].fill(w, rng)
		}
	}
	w.pad()
	if w.err != nil {
		return w.err
	}
	return buffered.Flush()
}

// writer counts what it writes and keeps the first error.
type writer struct {
	w   io.Writer
	n   int
	err error
}

func (w *writer) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	w.n += n
	return n, err
}

func (w *writer) put(p []byte) {
	if w.err == nil {
		_, w.err = w.Write(p)
	}
}

func (w *writer) pad() { w.put(make([]byte, (align-w.n%align)%align)) }

func (w *writer) number(v any) {
	p, err := binary.Append(nil, binary.LittleEndian, v)
	if w.err == nil {
		w.err = err
	}
	w.put(p)
}

func (w *writer) text(s string) {
	w.number(uint64(len(s)))
	w.put([]byte(s))
}

// value writes a metadata value with its type.
func (w *writer) value(v any) {
	list := func(kind uint32, n int, v any) {
		w.number(uint32(kindArray))
		w.number(kind)
		w.number(uint64(n))
		w.number(v)
	}
	switch v := v.(type) {
	case uint32:
		w.number(uint32(kindUint32))
		w.number(v)
	case float32:
		w.number(uint32(kindFloat32))
		w.number(math.Float32bits(v))
	case bool:
		w.number(uint32(kindBool))
		w.number(v)
	case string:
		w.number(uint32(kindString))
		w.text(v)
	case []float32:
		list(kindFloat32, len(v), v)
	case []int32:
		list(kindInt32, len(v), v)
	case []string:
		list(kindString, len(v), []byte{})
		for _, s := range v {
			w.text(s)
		}
	default:
		w.err = fmt.Errorf("metadata of type %T", v)
	}
}
