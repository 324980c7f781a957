package calib

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
)

// Kind is a sort of kernel table: the columns it needs and how a row becomes work.
type kind struct {
	name    string
	text    []string // columns
	numbers []string
	// optional columns read as zero or empty where a table lacks them
	more []string
	row  func(c *cells, i int, x *sample) (reason string)
}

// kinds by the operation that a table names in every row.
var kinds = map[string]*kind{
	"gemm":                  gemmKind,
	"moe":                   moeKind,
	"context_attention":     contextKind,
	"generation_attention":  decodeKind,
	"mla_context":           latentContextKind,
	"context_mla":           latentContextKind,
	"mla_generation":        latentDecodeKind,
	"generation_mla":        latentDecodeKind,
	"mla_context_module":    moduleContextKind,
	"mla_generation_module": moduleDecodeKind,
	"ll":                    lowLatencyKind,
	"normal":                normalKind,
	"all_gather":            ncclKind,
	"alltoall":              ncclKind,
	"reduce_scatter":        ncclKind,
	"all_reduce":            ncclKind, // or the engine's own, see kindOf
}

// cells are a table's columns.
type cells struct {
	*table
	device []string // of each row as the measurement called it; nil = not said
	text   map[string][]string
	number map[string][]float64
}

// openRows reads the columns of a table whose kind its op_name tells.
func openRows(path string) (*cells, *kind, error) {
	t, file, err := openTable(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	return readRows(t)
}

// engineName is the part of a file's name before its version: vllm, nccl, ...
func engineName(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), "-")
	return name
}

func readRows(t *table) (*cells, *kind, error) {
	ops, err := t.strings("op_name")
	if err != nil {
		return nil, nil, err
	}
	if len(ops) == 0 {
		return nil, nil, fmt.Errorf("%s: no rows: give a table of measurements", t.name)
	}
	k := kindOf(t, ops[0])
	if k == nil {
		return nil, nil, fmt.Errorf("%s: unknown operation %q", t.name, ops[0])
	}
	if err := t.need(slices.Concat(k.text, k.numbers)); err != nil {
		return nil, nil, err
	}
	c := &cells{table: t, text: map[string][]string{"op_name": ops}}
	if c.device, err = t.devices(); err != nil {
		return nil, nil, err
	}
	for _, n := range k.text {
		if c.text[n], err = t.strings(n); err != nil {
			return nil, nil, err
		}
	}
	wanted := slices.Clone(k.numbers)
	for _, n := range k.more {
		if _, ok := t.col[n]; ok {
			wanted = append(wanted, n)
		}
	}
	if c.number, err = t.numbers(wanted...); err != nil {
		return nil, nil, err
	}
	return c, k, nil
}

// kindOf tells NCCL's all-reduce from an engine's own by their columns.
func kindOf(t *table, op string) *kind {
	if _, own := t.col["allreduce_dtype"]; own && op == "all_reduce" {
		return oneShotKind
	}
	return kinds[op]
}

// at is a whole number of row i; 0 where the table lacks the column.
func (c *cells) at(column string, i int) int64 {
	if v := c.number[column]; v != nil {
		return int64(v[i])
	}
	return 0
}

// is tells a text cell.
func (c *cells) is(column string, i int) string { return c.text[column][i] }

// latency sets the measured time, in milliseconds in the tables.
func (c *cells) latency(i int, x *sample) string {
	if v := c.number["latency"][i]; !(v >= minLatency && v <= maxLatency) {
		return fmt.Sprintf("column latency is %g: give milliseconds from %g to %g", v, minLatency, maxLatency)
	}
	x.seconds = c.number["latency"][i] / 1e3
	return ""
}

// A kernel's time in ms. It takes at least a nanosecond, two cycles of a clock at 2 GHz (no catalogued
// GPU is clocked above 3); the longest of the measured tables take seconds, and 1e7 ms are hours.
const (
	minLatency = 1e-6
	maxLatency = 1e7
)

// positive names the first column that is not a whole number above 0 in row i.
func (c *cells) positive(i int, columns ...string) string {
	for _, n := range columns {
		if v := c.number[n][i]; !(v >= 1 && v <= maxSize) || v != math.Trunc(v) {
			return fmt.Sprintf("column %s is %g: give a whole number from 1 to %d", n, v, int64(maxSize))
		}
	}
	return ""
}

// sensible names the first optional column that is below 0 or out of bounds.
func (c *cells) sensible(i int, columns ...string) string {
	for _, n := range columns {
		if v := c.number[n]; v != nil && (!(v[i] >= 0 && v[i] <= maxSize) || v[i] != math.Trunc(v[i])) {
			return fmt.Sprintf("column %s is %g: give a whole number from 0 to %d", n, v[i], maxSize)
		}
	}
	return ""
}

// maxSize bounds shapes, so that products of four stay finite and of three exact.
const maxSize = 1 << 31
