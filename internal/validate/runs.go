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
// line and name the column, and the row by its id.
func ReadRuns(r io.Reader, name string) ([]Run, error) {
	in, err := table(r, name)
	if err != nil {
		return nil, err
	}
	head, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: the table is empty: give a CSV with the columns %s", name, strings.Join(columns, " "))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	at := map[string]int{}
	for _, c := range columns {
		if at[c] = slices.Index(head, c); at[c] < 0 {
			return nil, fmt.Errorf("%s: column %q is missing: the header needs %s", name, c, strings.Join(columns, " "))
		}
	}
	var runs []Run
	seen := map[string]bool{}
	for {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			return runs, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		row := row{cells: cells, at: at}
		run := row.run()
		if row.err != nil {
			return nil, fmt.Errorf("%s: row %s: %w", name, cmp.Or(run.ID, strconv.Itoa(len(runs)+1)), row.err)
		}
		if seen[run.ID] {
			return nil, fmt.Errorf("%s: row %s: the id appears twice: give each row its own", name, run.ID)
		}
		seen[run.ID] = true
		runs = append(runs, run)
	}
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
