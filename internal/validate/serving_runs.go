package validate

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ridgeline/ridgeline/internal/plan"
)

// ServingRun is one measured serving configuration: a closed loop of Concurrency
// requests in flight in all, on GPUs that hold as many instances of the layout as
// fit, or on the workers of two roles.
type ServingRun struct {
	ID, Model, GPU, Engine, Version string
	Weights, Experts, Speculation   string // as the table writes them; Experts "" = as the weights
	ISL, OSL, Concurrency, GPUs     int
	Plan                            plan.Serving        // of an instance, and its replicas
	Split                           *plan.Disaggregated // nil = prompts and generation together
	TTFT, TPOT                      float64             // milliseconds, means; TTFT 0 = not measured
	Varied                          bool                // lengths lie evenly between variedLeast of the nominal ones and these
}

// servingColumns are those that a table of serving runs must have. Others are
// ignored; the columns of two roles are needed where a row has that mode.
var servingColumns = []string{"id", "model", "gpu", "engine", "engine_version", "mode", "weights", "expert_weights", "spec_decode",
	"isl", "osl", "concurrency", "gpus", "tp", "pp", "dp", "ep", "ttft_ms", "tpot_ms"}

// variedLeast is the least share of the nominal lengths that requests of varied
// ones have, and variedMean their mean (README of inference_runs.csv: up to 20 % below).
const (
	variedLeast = 0.8
	variedMean  = (1 + variedLeast) / 2
)

// variedSource is the source whose lengths vary, by column "source", which a table
// may have.
const variedSource = "inferencex"

// lengths are the mean tokens of a prompt and of an answer.
func (s *ServingRun) lengths() (isl, osl int64) {
	if !s.Varied {
		return int64(s.ISL), int64(s.OSL)
	}
	mean := func(n int) int64 { return max(1, int64(variedMean*float64(n)+0.5)) }
	return mean(s.ISL), mean(s.OSL)
}

// splitColumns describe the workers of a disaggregated row.
var splitColumns = []string{"prefill_workers", "prefill_tp", "prefill_dp", "prefill_ep", "decode_workers", "decode_tp", "decode_dp", "decode_ep"}

// ReadServing reads a table of serving runs with the columns of inference_runs.csv in
// any order, CSV or JSON lines. A table without a needed column, or one that is
// neither, is an error of one line; a row that makes no sense is in bad with its id
// (or number) and the column, and does not keep the others from being read.
func ReadServing(r io.Reader, name string) (runs []ServingRun, bad []Skipped, err error) {
	t, err := openTable(r, name, servingColumns, append(slices.Clone(splitColumns), "source"))
	if err != nil {
		return nil, nil, err
	}
	err = t.each(func(w *row) (id string) {
		run := w.serving()
		if w.err == nil {
			runs = append(runs, run)
		}
		return run.ID
	}, &bad)
	return runs, bad, err
}

// serving reads one row; what is wrong with it is in r.err.
func (r *row) serving() ServingRun {
	s := ServingRun{
		ID: r.word("id", true), Model: r.word("model", true), GPU: r.word("gpu", true), Engine: strings.ToLower(r.word("engine", true)),
		Version: r.word("engine_version", false), Weights: r.word("weights", true), Experts: r.word("expert_weights", false),
		Speculation: r.word("spec_decode", false),
		ISL:         r.count("isl", 1, needed), OSL: r.count("osl", 1, needed), Concurrency: r.count("concurrency", 1, needed), GPUs: r.count("gpus", 1, needed),
		TPOT: r.number("tpot_ms", true), TTFT: r.number("ttft_ms", false),
	}
	if r.err == nil && s.OSL < 2 {
		r.fail("column \"osl\" is %d and column \"tpot_ms\" is filled: a time per token takes two tokens, correct one of them", s.OSL)
	}
	if w := strings.ToLower(s.Speculation); w != "" && w != "none" && w != "mtp" {
		r.fail("column \"spec_decode\" is %q: give none or mtp", s.Speculation)
	}
	if err := checkVersion(s.Version); err != nil {
		r.fail("column \"engine_version\" is %q: %v", s.Version, err)
	}
	if _, ok := r.at["source"]; ok {
		s.Varied = strings.EqualFold(r.word("source", false), variedSource)
	}
	switch mode := r.word("mode", false); mode {
	case "", "aggregated":
		s.Plan = plan.Serving{TP: r.degree("tp", s.GPUs, 1), PP: r.degree("pp", s.GPUs, 1), DP: r.degree("dp", s.GPUs, 1), EP: r.degree("ep", s.GPUs, 1), DCP: 1}
		if r.err != nil {
			break // degrees of zero have no share of the GPUs
		}
		s.Plan.Replicas = max(1, s.GPUs/s.Plan.GPUs())
		switch {
		case s.Plan.Total() != s.GPUs:
			r.fail("columns tp x pp x dp = %d do not divide column \"gpus\" = %d: correct one of them", s.Plan.GPUs(), s.GPUs)
		case s.Plan.TP*s.Plan.DP%s.Plan.EP != 0:
			r.fail("column \"ep\" = %d does not divide columns tp x dp = %d: correct one of them", s.Plan.EP, s.Plan.TP*s.Plan.DP)
		}
	case "disaggregated":
		s.Split = r.split(s.GPUs)
		if n := s.Split.Total(); r.err == nil && n != s.GPUs {
			r.fail("the workers of both roles hold %d GPUs and column \"gpus\" is %d: correct one of them", n, s.GPUs)
		}
	default:
		r.fail("column \"mode\" is %q: give aggregated or disaggregated", mode)
	}
	return s
}

// unreleased are words of versions that no release has; they are taken as the latest.
var unreleased = []string{"dev", "nightly", "main", "latest"}

// checkVersion refuses a version that says neither a release nor a build between two:
// it would pass for the latest.
func checkVersion(version string) error {
	v := strings.TrimPrefix(strings.ToLower(version), "v")
	words := strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("-._+", r) })
	if version == "" || v != "" && v[0] >= '0' && v[0] <= '9' || slices.ContainsFunc(unreleased, func(w string) bool { return slices.Contains(words, w) }) {
		return nil
	}
	return fmt.Errorf("give a release such as 0.12.0, a build that says %s, or leave it empty", strings.Join(unreleased, ", "))
}

// degree reads a degree of parallelism, at most the GPUs: three cells of maxCell have no
// product.
func (r *row) degree(c string, gpus, absent int) int {
	n := r.count(c, 1, absent)
	if r.err == nil && n > gpus {
		r.fail("column %q is %d and column \"gpus\" is %d: correct one of them", c, n, gpus)
	}
	return n
}

// split reads the workers of two roles.
func (r *row) split(gpus int) *plan.Disaggregated {
	for _, c := range splitColumns {
		if _, ok := r.at[c]; !ok {
			r.fail("column %q is missing: a disaggregated row needs %s", c, strings.Join(splitColumns, " "))
			return &plan.Disaggregated{}
		}
	}
	role := func(name string) plan.Serving {
		return plan.Serving{TP: r.degree(name+"_tp", gpus, 1), PP: 1, DP: r.degree(name+"_dp", gpus, 1), EP: r.degree(name+"_ep", gpus, 1), DCP: 1, Replicas: 1}
	}
	return &plan.Disaggregated{Prefill: role("prefill"), Decode: role("decode"),
		PrefillWorkers: r.degree("prefill_workers", gpus, needed), DecodeWorkers: r.degree("decode_workers", gpus, needed)}
}
