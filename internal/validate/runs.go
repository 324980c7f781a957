package validate

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Run is one measured training run as its source describes it. Degrees that the
// source leaves empty are 1, DP and ZeRO -1.
type Run struct {
	ID, Source, Model, ArchParams, GPU, Precision, Recompute, Schedule, Citation string

	GPUs, Seq, GlobalBatch, MicroBatch  int // Seq in tokens, batches in sequences
	TP, PP, VPP, CP, EP, DP, ZeRO       int
	ShardGroup                          int     // ranks of FSDP's shard group; 0 = all
	MTP                                 int     // modules trained along; -1 = not said
	TokensPerSecondPerGPU, MemoryFigure float64 // MemoryFigure in the source's unit, see memoryOf; 0 = not measured
}

// columns are those that a table of runs must have; others are ignored.
var columns = []string{"id", "source", "model", "arch_params", "gpu", "gpus", "precision", "seq_len", "global_batch_seqs", "micro_batch",
	"tp", "pp", "vpp", "cp", "ep", "dp", "zero", "shard_group", "recompute", "schedule", "mtp", "tokens_per_s_per_gpu", "memory_gb", "citation"}

// maxCell bounds whole numbers of a table: products of a few stay far from overflow.
const maxCell = 1 << 30

// What a measurement may be, in its own unit (tokens per second and GPU, GB, milliseconds):
// anything beyond is a slip of a unit, and would drown the errors of all other rows.
const (
	leastMeasured = 1e-4
	mostMeasured  = 1e9
)

// ReadRuns reads a table of training runs with the columns of training_runs.csv, in any
// order, CSV or JSON lines. name is the table's in errors, which take one
// line. A row that makes no sense is listed in bad with its id (or number) and the
// column, and does not keep the others from being read.
func ReadRuns(r io.Reader, name string) (runs []Run, bad []Skipped, err error) {
	t, err := openTable(r, name, columns, nil)
	if err != nil {
		return nil, nil, err
	}
	err = t.each(func(w *row) (id string) {
		run := w.run()
		if w.err == nil {
			runs = append(runs, run)
		}
		return run.ID
	}, &bad)
	return runs, bad, err
}

// row reads the cells of one run and keeps the first complaint.
type row struct {
	cells []string
	at    map[string]int
	err   error
}

func (r *row) run() Run {
	return Run{
		ID: r.word("id", true), Source: r.word("source", false), Model: r.word("model", true), ArchParams: r.word("arch_params", false),
		GPU: r.word("gpu", true), Precision: r.word("precision", true), Recompute: r.word("recompute", false),
		Schedule: r.word("schedule", false), Citation: r.word("citation", false),
		GPUs: r.count("gpus", 1, needed), Seq: r.count("seq_len", 1, needed), GlobalBatch: r.count("global_batch_seqs", 1, needed), MicroBatch: r.count("micro_batch", 1, needed),
		TP: r.count("tp", 1, 1), PP: r.count("pp", 1, 1), VPP: r.count("vpp", 1, 1), CP: r.count("cp", 1, 1), EP: r.count("ep", 1, 1),
		DP: r.count("dp", 1, -1), ZeRO: r.count("zero", 0, -1), ShardGroup: r.count("shard_group", 1, 0), MTP: r.count("mtp", 0, -1),
		TokensPerSecondPerGPU: r.number("tokens_per_s_per_gpu", true), MemoryFigure: r.number("memory_gb", false),
	}
}

func (r *row) cell(c string) string { return strings.TrimSpace(r.cells[r.at[c]]) }

func (r *row) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

func (r *row) word(c string, must bool) string {
	s := r.cell(c)
	switch {
	case s == "" && must:
		r.fail("column %q is empty: fill it in", c)
	case printable(s) != s:
		r.fail("column %q is %q: leave out what cannot be printed", c, s)
	}
	return s
}

// needed marks a number that may not be empty.
const needed = -2

// count reads a whole number of at least least; an empty cell is absent.
func (r *row) count(c string, least, absent int) int {
	s := r.cell(c)
	if s == "" && absent != needed {
		return absent
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < least || n > maxCell {
		r.fail("column %q is %q: give a whole number from %d to %d", c, s, least, maxCell)
	}
	return n
}

func (r *row) number(c string, must bool) float64 {
	s := r.cell(c)
	if s == "" && !must {
		return 0
	}
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil || !(v > 0) || math.IsInf(v, 0):
		r.fail("column %q is %q: give a positive number", c, s)
	case v < leastMeasured || v > mostMeasured:
		r.fail("column %q is %q: give a number from %g to %g", c, s, leastMeasured, mostMeasured)
	}
	return v
}
