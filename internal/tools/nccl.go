package tools

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ridgeline/ridgeline/internal/record"
)

// collectives maps the names of nccl-tests' programs to ours.
var collectives = map[string]string{
	"all_reduce": "all-reduce", "all_gather": "all-gather", "reduce_scatter": "reduce-scatter", "alltoall": "all-to-all",
	"sendrecv": "send-recv", "broadcast": "broadcast", "reduce": "reduce", "gather": "gather", "scatter": "scatter", "hypercube": "hypercube",
}

// ncclTypes maps its element types to formats.
var ncclTypes = map[string]string{"float": "fp32", "half": "fp16", "bfloat16": "bf16", "double": "fp64", "int8": "int8", "uint8": "uint8",
	"int32": "int32", "uint32": "uint32", "int64": "int64", "uint64": "uint64", "f8e4m3": "fp8", "f8e5m2": "fp8"}

// ncclRun is one program's run; a file may hold several, one after the other.
type ncclRun struct {
	ranks int
	hosts map[string]bool
	gpus  []string
	what  string // the collective, "" while nobody has said
	ratio float64
	rows  []record.Result
}

// nccl reads nccl-tests: a table of size, count, type, operation, root, and twice
// (out of place, in place) time in us, algbw, busbw and wrong values, each a result of its
// own with that as its kernel; Bytes is the size column, nccl-tests' own
// convention (PERFORMANCE.md): the whole tensor of all-reduce and all-gather.
func nccl(t *text, rec *record.Record) error {
	run, empty := &ncclRun{}, 0
	for i, line := range t.lines {
		f := strings.Fields(line)
		if strings.HasPrefix(line, "#") {
			if len(run.rows) > 0 && (ncclBegins(f) || ncclRank(f)) {
				if err := run.end(t, rec); err != nil {
					return err
				}
				run = &ncclRun{}
			}
			run.head(line, f)
			if strings.Contains(line, "nccl-tests version") {
				rec.Tool = strings.TrimSpace(strings.TrimPrefix(line, "#"))
			}
			continue
		}
		if len(f) < 11 {
			continue
		}
		if _, err := strconv.ParseInt(f[0], 10, 64); err != nil {
			continue
		}
		both, ratio, err := ncclRow(f)
		if err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
		if len(both) == 0 { // the start of a sweep from 0 bytes
			empty++
			continue
		}
		if ratio > 0 {
			run.ratio = ratio
		}
		run.rows = append(run.rows, both...)
	}
	if empty > 0 {
		rec.Notes = append(rec.Notes, fmt.Sprintf("rows of no bytes or no time, which measure nothing: %d", empty))
	}
	return run.end(t, rec)
}

// ncclBegins tells the lines that only the head of a run has.
func ncclBegins(f []string) bool {
	return len(f) > 1 && (f[1] == "nThread" || f[1] == "nccl-tests" || len(f) > 3 && f[1] == "Collective" && f[2] == "test" && f[3] == "starting:")
}

// ncclRank tells the line of one rank and its device.
func ncclRank(f []string) bool { return len(f) > 2 && f[1] == "Rank" }

// head reads what a comment says of the run.
func (r *ncclRun) head(line string, f []string) {
	switch {
	case ncclRank(f):
		r.ranks++
		if host := after(f, "on"); host != "" {
			if r.hosts == nil {
				r.hosts = map[string]bool{}
			}
			r.hosts[host] = true
		}
		if at := strings.Index(line, "] "); at > 0 {
			r.gpus = append(r.gpus, strings.TrimSpace(line[at+2:]))
		}
	case strings.HasPrefix(line, "# Collective test starting:"):
		r.what = collectives[strings.TrimSuffix(f[len(f)-1], "_perf")]
	}
}

// end adds the run's rows to the record.
func (r *ncclRun) end(t *text, rec *record.Record) error {
	if len(r.gpus) > len(rec.Machine.GPUs) {
		rec.Machine.GPUs = r.gpus
	}
	if len(r.rows) == 0 {
		return nil
	}
	if r.what == "" {
		r.what = ncclName(t.name, r.ratio, r.ranks)
	}
	if r.what == "" {
		return fmt.Errorf("which collective it is stands neither in the text nor in the file's name: name the file after the program, such as all_gather_perf.txt")
	}
	if want := busFactor(r.what, r.ranks); want > 0 && r.ratio > 0 && math.Abs(r.ratio-want) > 0.05*want {
		return fmt.Errorf("busbw is %.3g times algbw, which on %d ranks is not %s's %.3g: name the file after its program, one collective in each", r.ratio, r.ranks, r.what, want)
	}
	for _, row := range r.rows {
		row.What, row.Ranks, row.Nodes = r.what, r.ranks, len(r.hosts)
		rec.Results = append(rec.Results, row)
	}
	return nil
}

// busFactor is busbw over algbw on n ranks (nccl-tests, PERFORMANCE.md), 0 where nobody says how many.
func busFactor(what string, n int) float64 {
	switch {
	case n < 2:
		return 0
	case what == "all-reduce":
		return 2 * float64(n-1) / float64(n)
	case what == "all-gather" || what == "reduce-scatter" || what == "all-to-all" || what == "gather" || what == "scatter":
		return float64(n-1) / float64(n)
	}
	return 1
}

// ncclRow reads the times of one row, in place first, none where it measures nothing; ratio is
// busbw over algbw, 0 where rounding to 0.01 GB/s leaves less than 2 % of certainty.
func ncclRow(f []string) (both []record.Result, ratio float64, err error) {
	n := len(f)
	size, err := strconv.ParseInt(f[0], 10, 64)
	if err != nil || size < 0 {
		return nil, 0, fmt.Errorf("size %q is no number of bytes", f[0])
	}
	for _, c := range []struct {
		kernel string
		at     int
	}{{"in place", n - ncclColumns}, {"out of place", n - 2*ncclColumns}} {
		var v [ncclColumns - 1]float64 // time, algbw, busbw
		for i := range v {
			text := f[c.at+i]
			if v[i], err = strconv.ParseFloat(text, 64); err != nil || !(v[i] >= 0) || math.IsInf(v[i], 0) {
				return nil, 0, fmt.Errorf("%q is no time or bandwidth: take the row out, or run the test again", text)
			}
		}
		text := f[c.at+len(v)]
		if wrong, err := strconv.ParseFloat(text, 64); err == nil && wrong != 0 {
			return nil, 0, fmt.Errorf("%s wrong values at %d bytes: a collective that computes wrongly is no measurement", text, size)
		}
		if v[1] >= leastAlgBW && ratio == 0 {
			ratio = v[2] / v[1]
		}
		if v[0] > 0 && size > 0 {
			both = append(both, record.Result{Kind: record.Collective, Unit: "s", Value: v[0] * 1e-6, Best: v[0] * 1e-6, Format: ncclTypes[f[2]], Bytes: size, Kernel: c.kernel})
		}
	}
	return both, ratio, nil
}

// leastAlgBW is the algbw, GB/s, from which on busbw over it is told.
const leastAlgBW = 0.5

// ncclColumns are those of one way: time, algbw, busbw and wrong values.
const ncclColumns = 4

// ncclName tells the collective from the file's name, or from busbw/algbw where only
// one has that ratio: 2(n-1)/n is all-reduce's.
func ncclName(file string, ratio float64, ranks int) string {
	longest := ""
	for name := range collectives {
		if strings.Contains(file, name) && len(name) > len(longest) {
			longest = name
		}
	}
	if longest != "" {
		return collectives[longest]
	}
	if ranks > 2 && math.Abs(ratio-busFactor("all-reduce", ranks)) < 0.02 {
		return "all-reduce"
	}
	return ""
}

// after is the word behind another.
func after(words []string, word string) string {
	for i, w := range words[:max(len(words)-1, 0)] {
		if w == word {
			return words[i+1]
		}
	}
	return ""
}
