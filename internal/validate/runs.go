package validate

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/input"
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

// ReadRuns reads a CSV table of training runs with the columns of
// training_runs.csv, in any order. name is the table's in errors, which take one
// line. A row that makes no sense is listed in bad with its id (or number) and the
// column, and does not keep the others from being read.
func ReadRuns(r io.Reader, name string) (runs []Run, bad []Skipped, err error) {
	in, err := table(r, name)
	if err != nil {
		return nil, nil, err
	}
	head, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("%s: the table is empty: give a CSV with the columns %s", name, strings.Join(columns, " "))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	at := map[string]int{}
	for _, c := range columns {
		if at[c] = slices.Index(head, c); at[c] < 0 {
			return nil, nil, fmt.Errorf("%s: column %q is missing: the header needs %s", name, c, strings.Join(columns, " "))
		}
	}
	err = eachRow(in, name, head, at, func(w *row) (id string) {
		run := w.run()
		if w.err == nil {
			runs = append(runs, run)
		}
		return run.ID
	}, &bad)
	return runs, bad, err
}

// eachRow calls read on every row of a table after its head and lists those in bad that
// make no sense; read gives the row's id and leaves its complaint in the row. A table
// without rows is an error.
func eachRow(in *csv.Reader, name string, head []string, at map[string]int, read func(w *row) (id string), bad *[]Skipped) error {
	seen := map[string]bool{}
	n := 0
	for {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		n++
		number := "row " + strconv.Itoa(n)
		if errors.Is(err, csv.ErrFieldCount) {
			*bad = append(*bad, Skipped{number, fmt.Sprintf("%d cells under %d columns: give one for each", len(cells), len(head))})
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		w := row{cells: cells, at: at}
		if id := w.cell("id"); id != "" && seen[id] {
			w.fail("column \"id\" is %q twice: give each row its own", id)
		} else {
			seen[id] = true
		}
		id := read(&w)
		if w.err != nil {
			*bad = append(*bad, Skipped{cmp.Or(id, number), w.err.Error()})
		}
	}
	if n == 0 {
		return fmt.Errorf("%s: the table has a header and no rows: add runs", name)
	}
	return nil
}

// maxTable bounds a table's bytes; published ones have some hundred kB.
const maxTable = 64 << 20

// table is a reader of CSV text, in UTF-8 with or without a byte order mark.
func table(r io.Reader, name string) (*csv.Reader, error) {
	text, err := input.Text(r, maxTable)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return csv.NewReader(text), nil
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
	if s == "" && must {
		r.fail("column %q is empty: fill it in", c)
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
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		r.fail("column %q is %q: give a positive number", c, s)
	}
	return v
}
