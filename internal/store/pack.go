package store

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

func deflate(plain []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.DefaultCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// maxPlain bounds what is unpacked: far beyond the largest report.
const maxPlain = 1 << 30

func inflate(packed []byte) ([]byte, error) {
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxPlain+1))
	if err == nil && len(plain) > maxPlain {
		err = fmt.Errorf("larger than %d MiB", maxPlain>>20)
	}
	return plain, err
}

// encode and decode are values as 32-bit floats, little-endian.
func encode(values []float32) []byte {
	b := make([]byte, 0, 4*len(values))
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func decode(b []byte) ([]float32, error) {
	if len(b)%4 != 0 {
		return nil, errors.New("not a whole number of values")
	}
	values := make([]float32, len(b)/4)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return values, nil
}
