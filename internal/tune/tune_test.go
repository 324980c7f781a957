package tune

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/record"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// host is a probe of a machine of 10 GB/s and 100 GFLOP/s.
func host() *record.Record {
	return &record.Record{Form: record.Form, Tool: "test", Machine: record.Machine{Host: "h", Cores: 2, MemoryBytes: 16 << 30}, Results: []record.Result{
		{Kind: record.Memory, What: "read", Unit: "bytes/s", Value: 9e9, Device: "cpu", Threads: 1},
		{Kind: record.Memory, What: "triad", Unit: "bytes/s", Value: 10e9, Device: "cpu", Threads: 1},
		{Kind: record.GEMM, What: "gemm", Unit: "FLOP/s", Value: 100e9, Format: "fp32", Data: "random", Device: "cpu", Threads: 1},
		{Kind: record.GEMM, What: "gemm", Unit: "FLOP/s", Value: 190e9, Format: "fp32", Data: "random", Device: "cpu", Threads: 2},
	}}
}

func small(t *testing.T, format unit.Format) *model.Model {
	t.Helper()
	m, err := catalog.Model("llama-3.1-8b")
	if err != nil {
		t.Fatal(err)
	}
	m.Layers = m.Layers[:4]
	m.Checkpoint = model.Checkpoint{Weights: format, Experts: format, Head: format}
	return m
}

// A fit finds the rates that a machine's own steps were made with, and predicts steps
// of another model and other contexts that it never saw.
func TestFitRecoversAMachine(t *testing.T) {
	truth, err := Fit(t.Context(), &Input{Records: []*record.Record{host()}})
	if err != nil {
		t.Fatal(err)
	}
	f := &vectorFit{machine: truth.Machine, engine: "llamacpp", known: truth.Machine.Device.Clone(), step: 1e-3, source: "truth"}
	want := rates{prompt: 30e9, decode: 5e9, rows: []hw.RowRate{{Format: unit.Q8_0, Rows: 1, Rate: 30e9}, {Format: unit.Q8_0, Rows: 4, Rate: 45e9}, {Format: unit.Q8_0, Rows: promptRows, Rate: 80e9}}}
	f.set(want)
	m := small(t, unit.Q8_0)
	rec := &record.Record{Source: "steps"}
	for _, r := range []record.Result{{What: "decode", Batch: 1, Context: 100}, {What: "decode", Batch: 1, Context: 2000}, {What: "decode", Batch: 4, Context: 100}, {What: "prefill", Batch: 1, Tokens: 64}, {What: "prefill", Batch: 1, Tokens: 2048}} {
		r.Kind, r.Unit, r.HostSeconds = record.Serving, "s", 1e-3
		p := newPoint(m, &r)
		if r.Value, err = f.predict(&p); err != nil {
			t.Fatal(err)
		}
		rec.Results = append(rec.Results, r)
	}
	o, err := Fit(t.Context(), &Input{Records: []*record.Record{host()}, Runs: []Run{{m, rec}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range o.Residuals {
		if math.Abs(r.Fitted/r.Measured-1) > 0.02 { // the search goes in steps of 10 %
			t.Errorf("%+v: off by more than 2 %%", r)
		}
	}
	e := o.Machine.Device.Kernels.Engines[0]
	for i, r := range e.Rows {
		if r.Format != want.rows[i].Format || r.Rows != want.rows[i].Rows || math.Abs(r.Rate/want.rows[i].Rate-1) > 0.05 {
			t.Errorf("rate %+v, made with %+v", r, want.rows[i])
		}
	}
	if math.Abs(e.Core/want.decode-1) > 0.06 || e.Host.Step != 1e-3 { // the search goes in steps of 10 %
		t.Errorf("core %g, host %g", e.Core, float64(e.Host.Step))
	}
	// A step that was seen three times while requests ended gets no rate of its own.
	for i := range rec.Results {
		rec.Results[i].Repeats, rec.Results[i].Best = 20, rec.Results[i].Value
	}
	rec.Results = append(rec.Results, record.Result{Kind: record.Serving, What: "decode", Unit: "s", HostSeconds: 1e-3, Batch: 3, Context: 100, Repeats: 3, Value: 9},
		record.Result{Kind: record.Serving, What: "prefill", Unit: "s", Batch: 1, Tokens: 4, Repeats: 20, Value: 9}) // and a short prompt none beside that of four sequences
	passed, err := Fit(t.Context(), &Input{Records: []*record.Record{host()}, Runs: []Run{{m, rec}}})
	if err != nil {
		t.Fatal(err)
	}
	if rows := passed.Machine.Device.Kernels.Engines[0].Rows; len(rows) != len(e.Rows) || !slices.ContainsFunc(passed.Unused, func(u string) bool { return strings.Contains(u, "in passing") }) || !slices.ContainsFunc(passed.Unused, func(u string) bool { return strings.Contains(u, "a prompt of 4 tokens") }) {
		t.Errorf("rates %+v, unused %+v", rows, passed.Unused)
	}
	other := small(t, unit.Q8_0)
	other.Layers = other.Layers[:2]
	unseen := newPoint(other, &record.Result{What: "decode", Batch: 2, Context: 700, Value: 1})
	fitted := &vectorFit{machine: o.Machine, engine: "llamacpp"}
	a, err := f.predict(&unseen)
	if err != nil {
		t.Fatal(err)
	}
	b, err := fitted.predict(&unseen)
	if err != nil || math.Abs(b/a-1) > 0.03 {
		t.Errorf("another model takes %g s by the fit, %g in truth (%v)", b, a, err)
	}
	if data, err := catalog.EncodeCluster(o.Machine, ""); err != nil {
		t.Errorf("%v in %s", err, data)
	}
}

// Figures are those of their own measurement only; what no figure takes is named.
func TestRecordsBecomeFigures(t *testing.T) {
	base, err := catalog.Cluster("h100x8")
	if err != nil {
		t.Fatal(err)
	}
	rec := &record.Record{Tool: "test", Source: "r", Results: []record.Result{
		{Kind: record.Collective, What: "all-gather", Unit: "s", Value: 2e-3, Bytes: 1 << 30, Ranks: 8, Nodes: 1}, // 7/8 x 2^30 / 2 ms = 470 GB/s, above the link
		{Kind: record.Collective, What: "all-gather", Unit: "s", Value: 3e-3, Bytes: 1 << 30, Ranks: 8, Nodes: 1},
		{Kind: record.Collective, What: "all-reduce", Unit: "s", Value: 30e-6, Bytes: 1024, Ranks: 8, Nodes: 1},
		{Kind: record.GEMM, What: "gemm", Unit: "FLOP/s", Value: 900e12, Format: "bf16", Data: "zeros", Device: "gpu0"},
		{Kind: record.GEMM, What: "gemm", Unit: "FLOP/s", Value: 700e12, Format: "bf16", Data: "random", Device: "gpu0"},
		{Kind: record.Memory, What: "triad", Unit: "bytes/s", Value: 200e9, Device: "cpu", Threads: 8},
	}}
	rec.Results[0].Value = 4e-3 // slower than the next: the best counts
	o, err := Fit(t.Context(), &Input{Base: base, Records: []*record.Record{rec}})
	if err != nil {
		t.Fatal(err)
	}
	a := &o.Machine.Device.Achieved
	if want := 7.0 / 8 * (1 << 30) / 3e-3; math.Abs(a.ScaleUp.Value/want-1) > 1e-12 || a.Matrix[unit.BF16].Value != 700e12 || len(o.Changes) != 2 || len(o.Unused) != 4 {
		t.Errorf("scale-up %g, bf16 %g, changes %+v, unused %q", a.ScaleUp.Value, a.Matrix[unit.BF16].Value, o.Changes, o.Unused)
	}
	if again, _ := catalog.Cluster("h100x8"); again.Device.Achieved.Matrix[unit.BF16] == a.Matrix[unit.BF16] {
		t.Error("the catalogue changed")
	}
	for i, c := range o.Changes { // in the unit that the key spells
		if want := []float64{700, a.ScaleUp.Value / 1e9}[i]; c.After != want || c.Before == nil || *c.Before > 2000 {
			t.Errorf("%+v, want %g", c, want)
		}
	}
	rec.Machine.GPUs = []string{"NVIDIA A100-SXM4-80GB"}
	if o, err = Fit(t.Context(), &Input{Base: base, Records: []*record.Record{rec}}); err != nil || len(o.Changes) != 0 || !strings.Contains(o.Unused[0], "measured on NVIDIA A100") {
		t.Errorf("another GPU's record: %+v, %v", o, err)
	}
	rec.Machine.GPUs = []string{"NVIDIA H100 80GB HBM3"}
	rec.Results = []record.Result{{Kind: record.Memory, What: "read", Unit: "bytes/s", Value: 3, Device: "gpu0"}}
	if o, err = Fit(t.Context(), &Input{Base: base, Records: []*record.Record{rec}}); err != nil || len(o.Changes) != 0 || !strings.Contains(o.Unused[0], "correct its unit") {
		t.Errorf("a rate in another unit: %+v, %v", o, err)
	}
	rec.Results = []record.Result{{Kind: record.Memory, What: "read", Unit: "bytes/s", Value: 9e12, Device: "gpu0"}}
	if o, err = Fit(t.Context(), &Input{Base: base, Records: []*record.Record{rec}}); err != nil || len(o.Unused) != 1 || len(o.Changes) != 0 {
		t.Errorf("a rate above the peak: %+v, %v", o, err)
	}
}

// Every row of nccl-tests ends used or unused with the reason that holds for it; an all-reduce
// may reach twice the link, where the switch sums, and no more.
func TestRowsOfCollectives(t *testing.T) {
	base, err := catalog.Cluster("h100x8")
	if err != nil {
		t.Fatal(err)
	}
	row := func(what string, gbps float64, bytes int64, ranks, nodes int) record.Result {
		r := record.Result{Kind: record.Collective, What: what, Unit: "s", Value: 1, Bytes: bytes, Ranks: ranks, Nodes: nodes}
		r.Value = amount(&r) / (gbps * 1e9)
		return r
	}
	link := base.Device.Peak.ScaleUp.Value / 1e9
	for says, r := range map[string]record.Result{
		"of 2 nodes":            row("all-reduce", 100, 8, 4, 2),
		"below 64 MiB":          row("all-reduce", 100, 8<<20, 8, 1),
		"fewer than two ranks":  {Kind: record.Collective, What: "all-reduce", Unit: "s", Value: 1, Bytes: 1 << 30, Ranks: 1},
		"only all-reduce":       row("all-to-all", 100, 1<<30, 8, 1),
		"above the peak of 900": row("all-reduce", 2.01*link, 1<<30, 8, 1),
		"above the peak of 450": row("all-gather", 1.01*link, 1<<30, 8, 1),
		"another is better":     row("all-reduce", 1.01*link, 1<<30, 8, 1), // beside the one below
	} {
		rec := &record.Record{Source: "r", Results: []record.Result{r, row("all-reduce", 1.02*link, 1<<30, 8, 1)}}
		o, err := Fit(t.Context(), &Input{Base: base, Records: []*record.Record{rec}})
		if err != nil || len(o.Changes) != 1 || len(o.Unused) != 1 || !strings.Contains(o.Unused[0], says) {
			t.Errorf("%s: %+v, %v", says, o, err)
		}
	}
}

func TestWhatCannotBeFitted(t *testing.T) {
	if _, err := Fit(t.Context(), &Input{}); err == nil {
		t.Error("nothing makes a machine")
	}
	gpu, err := catalog.Cluster("h100x1")
	if err != nil {
		t.Fatal(err)
	}
	run := Run{small(t, unit.FP16), &record.Record{Source: "x", Results: []record.Result{{Kind: record.Serving, What: "decode", Unit: "s", Value: 1, Batch: 1}}}}
	if _, err := Fit(t.Context(), &Input{Base: gpu, Runs: []Run{run}}); err == nil {
		t.Error("runs fit a GPU")
	}
	run.Record.Results = nil
	if _, err := Fit(t.Context(), &Input{Records: []*record.Record{host()}, Runs: []Run{run}}); err == nil {
		t.Error("a run without steps fits")
	}
}

// The probe's products of one row go into the machine and through its file; a model that
// the caches hold a part of is named.
func TestWorkingSetsOfAProbe(t *testing.T) {
	m := small(t, unit.Q8_0) // 1.5 GB
	rec := &record.Record{Source: "steps", Results: []record.Result{{Kind: record.Serving, What: "decode", Unit: "s", Value: 1, Batch: 1, Context: 100}}}
	for notes, rates := range [][]float64{{40e9, 20e9, 8.1e9, 8e9}, {40e9, 20e9, 16e9, 8e9}} {
		probe := host()
		for i, rate := range rates { // 0.5, 1, 2, 4 GB
			probe.Results = append(probe.Results, record.Result{Kind: record.Memory, What: record.GEMV, Unit: "bytes/s", Value: rate / 2, Best: rate, Format: "q8_0", Bytes: 500e6 << i, Device: "cpu", Threads: 1})
		}
		o, err := Fit(t.Context(), &Input{Records: []*record.Record{probe}, Runs: []Run{{m, rec}}})
		if err != nil {
			t.Fatal(err)
		}
		if len(o.Notes) != notes {
			t.Errorf("rates %g: notes %q, want %d", rates, o.Notes, notes)
		}
		data, err := catalog.EncodeCluster(o.Machine, "")
		if err != nil {
			t.Fatal(err)
		}
		again, err := catalog.ReadCluster("m.yaml", data)
		if err != nil {
			t.Fatal(err)
		}
		want := []hw.Stream{{Format: unit.Q8_0, Bytes: 0.5e9, Rate: rates[0]}, {Format: unit.Q8_0, Bytes: 1e9, Rate: rates[1]}, {Format: unit.Q8_0, Bytes: 2e9, Rate: rates[2]}, {Format: unit.Q8_0, Bytes: 4e9, Rate: rates[3]}}
		if got := again.Device.Kernels.Streams; !slices.Equal(got, want) {
			t.Errorf("streams %+v, want %+v", got, want)
		}
	}
}

// Experts have fewer rows than the step: a fit of a mixture of experts gives back the
// steps it was made of, which rates fitted one by one do not.
func TestFitOfExpertsIsConsistent(t *testing.T) {
	truth, err := Fit(t.Context(), &Input{Records: []*record.Record{host()}})
	if err != nil {
		t.Fatal(err)
	}
	f := &vectorFit{machine: truth.Machine, engine: "llamacpp", known: truth.Machine.Device.Clone(), source: "truth"}
	f.set(rates{prompt: 30e9, decode: 5e9, rows: []hw.RowRate{{Format: unit.Q8_0, Rows: 1, Rate: 20e9}, {Format: unit.Q8_0, Rows: 4, Rate: 40e9}, {Format: unit.Q8_0, Rows: promptRows, Rate: 90e9}}})
	m, err := catalog.Model("mixtral-8x7b")
	if err != nil {
		t.Fatal(err)
	}
	m.Layers, m.Checkpoint = m.Layers[:1], model.Checkpoint{Weights: unit.Q8_0, Experts: unit.Q8_0, Head: unit.Q8_0}
	rec := &record.Record{Source: "steps"}
	for _, r := range []record.Result{{What: "decode", Batch: 1, Context: 100}, {What: "decode", Batch: 4, Context: 100}, {What: "prefill", Batch: 1, Tokens: 64}, {What: "prefill", Batch: 1, Tokens: 512}} {
		r.Kind, r.Unit = record.Serving, "s"
		p := newPoint(m, &r)
		if r.Value, err = f.predict(&p); err != nil {
			t.Fatal(err)
		}
		rec.Results = append(rec.Results, r)
	}
	o, err := Fit(t.Context(), &Input{Records: []*record.Record{host()}, Runs: []Run{{m, rec}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range o.Residuals {
		if math.Abs(r.Fitted/r.Measured-1) > 0.03 {
			t.Errorf("%+v: off by more than 3 %%", r)
		}
	}
}
