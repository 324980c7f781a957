// Package tools reads what the standard measuring tools print and makes records of
// it: nccl-tests, nvbandwidth (text and JSON), perftest (ib_write_bw, ib_read_lat and
// their kin), nvidia-smi and DCGM clocks, llama-bench (JSON, CSV, Markdown), ridgeline's
// own bench, and the training logs of Megatron-LM, torchtitan and NeMo. The tool is told from the text.
//
// Opinion: figures keep their meaning and are turned into SI once, here; what the
// text does not say stays unknown; a text that no reader knows, or that a tool broke
// off before its first figure, is an error of one line.
package tools

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ridgeline/ridgeline/internal/input"
	"github.com/ridgeline/ridgeline/internal/record"
)

// maxBytes bounds an output: the log of a training run of days takes some 100 MB.
const maxBytes = 256 << 20

// reader turns one tool's whole output into results; nothing of its own in the text
// is no error but no result.
type reader struct {
	tool string
	mark string // stands in every output of the tool
	read func(text *text, rec *record.Record) error
}

// readers in the order they are asked; the marks of the first are the surest.
var readers = []reader{
	{"ridgeline probe", `"record"`, own},
	{"nvbandwidth", `"nvbandwidth"`, nvbandwidthJSON},
	{"llama.cpp server", `"llamacpp_steps"`, llamaSteps},
	{"llama-bench", `"avg_ts"`, llamaJSON},
	{"llama-bench", "avg_ts", llamaCSV},
	{"llama-bench", "t/s |", llamaMarkdown},
	{"ridgeline bench", `"tpot_ms"`, benchRun},
	{"nccl-tests", "busbw", nccl},
	{"nvbandwidth", "bandwidth (GB/s)", nvbandwidth},
	{"perftest", "#bytes", perftest},
	{"nvidia-smi", "[MHz]", smi},
	{"dcgmi", "#Entity", dcgm},
	{"Megatron-LM", "elapsed time per iteration (ms)", megatron},
	{"NeMo", "train_step_timing in s", nemo},
	{"torchtitan", "tps: ", titan}, // an address has its "tps:" without the blank
}

// text is an output in lines, with the name it was given under.
type text struct {
	name  string
	all   []byte
	lines []string
}

// lineEnds makes one of all, also of that of a progress bar, which is drawn anew over itself.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// errNone says that a reader found its mark but no figure.
var errNone = errors.New("no figure in it: was the tool stopped before its first result?")

// Read makes a record of a tool's output. name tells errors and, where the text does
// not say what was measured, is looked at too (all_reduce_perf.txt).
func Read(r io.Reader, name string) (*record.Record, error) {
	in, err := input.Text(r, maxBytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	all, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t := &text{name: name, all: all, lines: strings.Split(lineEnds.Replace(string(all)), "\n")}
	for _, x := range readers {
		if !bytes.Contains(all, []byte(x.mark)) {
			continue
		}
		rec := &record.Record{Form: record.Form, Tool: x.tool, Source: name}
		err := x.read(t, rec)
		if err == nil && len(rec.Results) == 0 {
			err = errNone
		}
		if err == nil {
			err = rec.Check(name)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: output of %s: %s", name, x.tool, strings.Join(strings.Fields(err.Error()), " "))
		}
		return rec, nil
	}
	return nil, fmt.Errorf("%s: no output of a known tool: give that of ridgeline probe or bench, nccl-tests, nvbandwidth, perftest, nvidia-smi, dcgmi dmon, llama-bench, Megatron-LM, torchtitan or NeMo", name)
}

// own is a record of ours: read strictly, as it is.
func own(t *text, rec *record.Record) error {
	r, err := record.Read(bytes.NewReader(t.all), t.name)
	if err == nil {
		*rec = *r
	}
	return err
}
