package tune

import (
	"math"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/record"
)

// training is a run of llama-3.1-8b on 64 H100 whose log says what truth predicts.
func training(t *testing.T, truth *hw.Cluster, text string, batch int) TrainingRun {
	t.Helper()
	base, err := catalog.Cluster("h100x64")
	if err != nil {
		t.Fatal(err)
	}
	m, err := catalog.Model("llama-3.1-8b")
	if err != nil {
		t.Fatal(err)
	}
	fixed, err := plan.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	precision, err := plan.ParsePrecision("bf16")
	if err != nil {
		t.Fatal(err)
	}
	r := &api.TrainRequest{Model: m, Cluster: base, Fixed: fixed, GlobalBatch: batch, Seq: 4096, Precision: precision, Top: 1, Alone: true}
	made := *r
	made.Cluster = truth
	a, _, err := api.Narrow(t.Context(), &made)
	if err != nil {
		t.Fatal(err)
	}
	rec := &record.Record{Source: text, Results: []record.Result{{Kind: record.Training, What: "step", Unit: "s", Value: float64(a.Best.Step)}}}
	return TrainingRun{r, rec}
}

// slower is 64 H100 that hold 0.7 of their isolated speed and 8 GB/s of each NIC.
func slower(t *testing.T) *hw.Cluster {
	t.Helper()
	c, err := catalog.Cluster("h100x64")
	if err != nil {
		t.Fatal(err)
	}
	trainingFigures[0].set(c, hw.Figure{Value: 0.7, Grade: hw.Measured, Source: "truth"})
	trainingFigures[1].set(c, hw.Figure{Value: 8e9, Grade: hw.Measured, Source: "truth"})
	return c
}

const (
	heavy = "tp=1,pp=1,cp=1,dp=64,zero=1,mbs=1,recompute=full"      // computes
	light = "tp=1,pp=1,cp=1,dp=64,zero=3,mbs=1,recompute=selective" // gathers over the network
	wide  = "tp=8,pp=1,cp=1,dp=8,zero=1,mbs=1,recompute=none"       // inside the nodes
	cross = "tp=1,pp=1,cp=1,dp=64,zero=3,mbs=1,recompute=none"      // gathers with less to hide behind
	other = "tp=4,pp=2,cp=1,dp=8,zero=1,mbs=1,recompute=selective"  // seen by no fit
)

// One run of a compute-bound layout tells the sustained share alone, and a layout that no
// log is of is predicted better by it.
func TestOneTrainingRun(t *testing.T) {
	truth := slower(t)
	base, _ := catalog.Cluster("h100x64")
	o, err := Fit(t.Context(), &Input{Base: base, Training: []TrainingRun{training(t, truth, heavy, 1024)}})
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Changes) != 1 || o.Changes[0].Figure != "sustained_share" || math.Abs(o.Changes[0].After/0.7-1) > 0.03 {
		t.Errorf("changes %+v, want a share of 0.7", o.Changes)
	}
	if r := o.Training[0]; math.Abs(r.Fitted/r.Measured-1) > 1e-3 || r.HeldOut != 0 {
		t.Errorf("residual %+v", r)
	}
	if !strings.Contains(strings.Join(o.Notes, "\n"), "cross-validation needs two") {
		t.Errorf("notes %q", o.Notes)
	}
	unseen := training(t, truth, other, 512)
	want := unseen.Record.Results[0].Value
	off := func(c *hw.Cluster) float64 {
		r := *unseen.Request
		r.Cluster = c
		a, _, err := api.Narrow(t.Context(), &r)
		if err != nil {
			t.Fatal(err)
		}
		return math.Abs(float64(a.Best.Step)/want - 1)
	}
	if before, after := off(base), off(o.Machine); after > before/2 || after > 0.08 {
		t.Errorf("another layout is off by %.3f before and by %.3f after", before, after)
	}
}

// Several layouts tell share and network apart, and the machine file keeps both.
func TestTrainingRunsTellLinksApart(t *testing.T) {
	truth := slower(t)
	base, _ := catalog.Cluster("h100x64")
	runs := []TrainingRun{training(t, truth, heavy, 1024), training(t, truth, light, 64), training(t, truth, wide, 256), training(t, truth, cross, 64)}
	o, err := Fit(t.Context(), &Input{Base: base, Training: runs})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, c := range o.Changes {
		found[c.Figure] = c.After
	}
	if math.Abs(found["sustained_share"]/0.7-1) > 0.01 || math.Abs(found["achieved.nic_gb_per_s"]/8-1) > 0.01 {
		t.Errorf("found %v, want 0.7 and 8; notes %q", found, o.Notes)
	}
	for _, r := range o.Training {
		if math.Abs(r.Fitted/r.Measured-1) > 0.01 || r.Source != heavy && math.Abs(r.HeldOut/r.Measured-1) > 0.1 { // without it no run tells the share
			t.Errorf("%+v", r)
		}
	}
	data, err := catalog.EncodeCluster(o.Machine, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"sustained_share:", "value: 0.7", "nic_gb_per_s:", "grade: measured", "4 training logs"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%q is missing in\n%s", want, data)
		}
	}
}

// Logs of one job that contradict each other make a figure between them, which predicts either worse
// from the other than the machine before did: a warning, which the machine file keeps.
func TestContradictoryLogsWarn(t *testing.T) {
	base, _ := catalog.Cluster("h100x64")
	fast, slow := training(t, base, heavy, 1024), training(t, base, heavy, 1024)
	fast.Record.Results[0].Value *= 0.9
	slow.Record.Results[0].Value *= 1.15
	slow.Record.Source = "slow"
	const says = "logs that the fit did not see are off by"
	o, err := Fit(t.Context(), &Input{Base: base, Training: []TrainingRun{fast, slow}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := catalog.EncodeCluster(o.Machine, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Warnings) != 1 || !strings.Contains(o.Warnings[0], says) || !strings.Contains(string(data), says) {
		t.Errorf("warnings %q, file:\n%s", o.Warnings, data)
	}
	if o, err = Fit(t.Context(), &Input{Base: base, Training: []TrainingRun{training(t, slower(t), heavy, 1024), training(t, slower(t), wide, 256)}}); err != nil || len(o.Warnings) > 0 {
		t.Errorf("runs that agree: %v, %q", err, o.Warnings)
	}
}

// The same warning of serving runs stands where the error of unseen ones is larger than before, by
// more than runs repeat.
func TestWorseUnseen(t *testing.T) {
	for _, c := range []struct {
		held, before float64
		warns        bool
	}{{0.2, 0.1, true}, {0.1, 0.2, false}, {0.1, 0.1, false}, {0.1 + repeats/2, 0.1, false}} {
		if got := worseUnseen("runs", c.held, c.before); (got != "") != c.warns || c.warns && !strings.Contains(got, "runs that the fit did not see are off by 20.0 % on the median, more than the 10.0 %") {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// A step that no machine can reach, a log of another job and a log without steps are
// refused.
func TestTrainingRunsRefused(t *testing.T) {
	base, _ := catalog.Cluster("h100x64")
	for name, change := range map[string]func(r *record.Record){
		"this job needs": func(r *record.Record) { r.Results[0].Value /= 10 },
		"correct the two": func(r *record.Record) {
			r.Results = append(r.Results, record.Result{Kind: record.Training, What: "tokens", Value: 1})
		},
		"give --gpus 8": func(r *record.Record) {
			r.Results = append(r.Results, record.Result{Kind: record.Training, What: "tokens", Value: 1, Ranks: 8})
		},
		"cannot be explained":          func(r *record.Record) { r.Results[0].Value *= 100 },
		"give --global-batch 64":       func(r *record.Record) { r.Results[0].Batch = 64 },
		"steps of 4096 tokens":         func(r *record.Record) { r.Results[0].Tokens = 4096 },
		"states tp=2, --plan has tp=1": func(r *record.Record) { r.Results[0].Layout = "tp=2,mbs=1" },
		"name the model of the log": func(r *record.Record) {
			r.Results = append(r.Results, record.Result{Kind: record.Training, What: "flops", Value: 3e15})
		},
		"no step time and no": func(r *record.Record) { r.Results[0].What = "flops" },
	} {
		run := training(t, base, heavy, 1024)
		change(run.Record)
		if _, err := Fit(t.Context(), &Input{Base: base, Training: []TrainingRun{run}}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
