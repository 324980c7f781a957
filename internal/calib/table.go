package calib

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/ridgeline/ridgeline/internal/input"
)

// table is one parquet file of measured kernels, read column by column.
type table struct {
	name string // folder and file, for messages
	file *parquet.File
	rows int
	col  map[string]int // leaf column index
}

// maxRows bounds a table; the measured ones hold at most 160,000.
const maxRows = 1 << 24

// openTable opens a parquet file; the caller closes the closer.
func openTable(path string) (*table, io.Closer, error) {
	f, err := input.Open(path)
	if err != nil {
		return nil, nil, err
	}
	name := filepath.Base(path)
	st, err := f.Stat()
	if err == nil {
		var t *table
		if t, err = readTable(name, f, st.Size()); err == nil {
			return t, f, nil
		}
	}
	f.Close()
	return nil, nil, err
}

// readTable reads a parquet file's footer. A damaged file is an error, also
// where the library would panic.
func readTable(name string, r io.ReaderAt, size int64) (t *table, err error) {
	defer recovered(name, &err)
	if err := checkFooter(name, r, size); err != nil {
		return nil, err
	}
	pf, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, damaged(name, err)
	}
	if n := pf.NumRows(); n < 0 || n > maxRows {
		return nil, fmt.Errorf("%s: says it has %d rows: give at most %d", name, n, maxRows)
	}
	t = &table{name: name, file: pf, rows: int(pf.NumRows()), col: map[string]int{}}
	for i, c := range pf.Schema().Columns() {
		t.col[strings.Join(c, ".")] = i
	}
	return t, nil
}

// checkFooter compares the footer's stated length with the file's, since the
// library sets aside what a damaged footer states. A parquet file ends with the
// footer, its length in four bytes, little end first, and the letters PAR1.
func checkFooter(name string, r io.ReaderAt, size int64) error {
	var tail [8]byte
	if size < 12 {
		return fmt.Errorf("%s: %d bytes: give a complete parquet file", name, size)
	}
	if _, err := r.ReadAt(tail[:], size-8); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if n := int64(binary.LittleEndian.Uint32(tail[:4])); string(tail[4:]) != "PAR1" || n > size-12 {
		return fmt.Errorf("%s: damaged footer: give a complete parquet file", name)
	}
	return nil
}

// recovered turns the parquet library's panic on damaged bytes into an error.
func recovered(name string, err *error) {
	if p := recover(); p != nil {
		*err = damaged(name, fmt.Errorf("%v", p))
	}
}

// damaged says what to do about bytes that are no parquet.
func damaged(where string, err error) error {
	return fmt.Errorf("%s: damaged or cut short (%s): copy the file again", where, strings.Join(strings.Fields(err.Error()), " "))
}

// need names all columns that a table lacks.
func (t *table) need(columns []string) error {
	lacks := slices.DeleteFunc(slices.Clone(columns), func(c string) bool { _, ok := t.col[c]; return ok })
	switch len(lacks) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s: column %s is missing: the table needs %s", t.name, lacks[0], strings.Join(columns, " "))
	}
	return fmt.Errorf("%s: columns %s are missing: the table needs %s", t.name, strings.Join(lacks, ", "), strings.Join(columns, " "))
}

// floats reads a numeric column.
func (t *table) floats(name string) ([]float64, error) {
	out := make([]float64, 0, min(t.rows, 1<<20))
	err := t.values(name, func(v parquet.Value) error {
		switch v.Kind() {
		case parquet.Double:
			out = append(out, v.Double())
		case parquet.Float:
			out = append(out, float64(v.Float()))
		case parquet.Int64:
			out = append(out, float64(v.Int64()))
		case parquet.Int32:
			out = append(out, float64(v.Int32()))
		default:
			return fmt.Errorf("%s: column %s holds %v, not numbers", t.name, name, v.Kind())
		}
		return nil
	})
	return out, err
}

// numbers reads several numeric columns.
func (t *table) numbers(names ...string) (map[string][]float64, error) {
	out := map[string][]float64{}
	for _, n := range names {
		col, err := t.floats(n)
		if err != nil {
			return nil, err
		}
		out[n] = col
	}
	return out, nil
}

// seconds is the latency of row i, which the tables give in milliseconds.
func (t *table) seconds(ms []float64, i int) (float64, error) {
	if !(ms[i] > 0) || math.IsInf(ms[i], 0) {
		return 0, fmt.Errorf("%s: row %d: latency %g is not above 0", t.name, i+1, ms[i])
	}
	return ms[i] / 1e3, nil
}

// strings reads a text column; equal values share one string.
func (t *table) strings(name string) ([]string, error) {
	out := make([]string, 0, min(t.rows, 1<<20))
	seen := map[string]string{}
	err := t.values(name, func(v parquet.Value) error {
		if v.Kind() != parquet.ByteArray {
			return fmt.Errorf("%s: column %s holds %v, not text", t.name, name, v.Kind())
		}
		b := v.ByteArray()
		s, ok := seen[string(b)]
		if !ok {
			s = string(b)
			seen[s] = s
		}
		out = append(out, s)
		return nil
	})
	return out, err
}

// devices are what the measurement called the GPU of each row; nil = not said.
func (t *table) devices() ([]string, error) {
	if _, ok := t.col["device"]; !ok {
		return nil, nil
	}
	return t.strings("device")
}

// values calls f on each value of a column in row order.
func (t *table) values(name string, f func(parquet.Value) error) error {
	if err := t.need([]string{name}); err != nil {
		return err
	}
	i := t.col[name]
	buf := make([]parquet.Value, 4096)
	n := 0
	for k, g := range t.file.RowGroups() {
		got, err := readChunk(g.ColumnChunks()[i], buf, t.rows-n, fmt.Sprintf("%s: column %s, row group %d", t.name, name, k), f)
		if err != nil {
			return err
		}
		n += got
	}
	if n != t.rows {
		return damaged(t.name, fmt.Errorf("column %s has %d values for %d rows", name, n, t.rows))
	}
	return nil
}

// readChunk reads a column of a row group, also where the library panics over it.
func readChunk(c parquet.ColumnChunk, buf []parquet.Value, most int, where string, f func(parquet.Value) error) (n int, err error) {
	defer recovered(where, &err)
	pages := c.Pages()
	defer pages.Close()
	return readPages(pages, buf, most, where, f)
}

// readPages reads at most `most` values; a damaged page may promise more than the
// table has rows. where names the column in complaints.
func readPages(pages parquet.Pages, buf []parquet.Value, most int, where string, f func(parquet.Value) error) (n int, err error) {
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, damaged(where, err)
		}
		values := page.Values()
		for {
			k, err := values.ReadValues(buf)
			if n+k > most {
				return n, damaged(where, errors.New("more values than the table has rows"))
			}
			for _, v := range buf[:k] {
				if err := f(v); err != nil {
					return n, err
				}
			}
			n += k
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return n, damaged(where, err)
			}
		}
		parquet.Release(page)
	}
}
