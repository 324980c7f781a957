// Package tune makes a machine file of measurements: records of probes and of other
// tools' output become achieved figures, runs of an engine become its rates and host
// times on this machine, logs of training the share that lasting load holds. It says
// how well each fits and how well it predicts what it did not see. The formulas are
// those of packages cost, infer and train; a fit only searches the figures with which
// they come closest.
//
// Opinion: a figure is replaced only by a measurement of the same thing, with its
// source; nothing is written into the catalogue; a measurement that fits no figure is
// listed as unused, never dropped in silence.
package tune

import (
	"context"
	"fmt"
	"slices"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/model"
	"github.com/ridgeline/ridgeline/internal/record"
	"github.com/ridgeline/ridgeline/internal/validate"
)

// Input is what to fit to.
type Input struct {
	Base    *hw.Cluster // what is known already; nil = a CPU, of whose probe a machine is made
	Name    string      // of the machine; "" = the base's, or the host's
	Records []*record.Record
	Runs    []Run
	// Training is runs on machines like Base, which has to be given then.
	Training []TrainingRun
	Unused   []string              // measurements that were left out before, and why
	Engine   string                // of the runs
	Threads  int                   // of the CPU that the engine takes; 0 = 1
	Serving  []validate.ServingRun // whole runs of engines on the machine
	Configs  string                // folder of Hugging Face configurations for their models
}

// Run is measurements of an engine with a model.
type Run struct {
	Model  *model.Model
	Record *record.Record
}

// Change is one figure of the machine that a measurement replaced.
type Change struct {
	Figure string  `json:"figure"` // its key in the machine file
	Before float64 `json:"before"` // SI; 0 = unknown
	After  float64 `json:"after"`
	Source string  `json:"source"`
}

// Residual is one measurement of an engine beside what the fit gives. HeldOut is the
// same predicted by a fit without this measurement, 0 where nothing else tells.
type Residual struct {
	Model    string  `json:"model"`
	What     string  `json:"what"`
	Format   string  `json:"format"`
	Batch    int     `json:"batch"`
	Tokens   int64   `json:"tokens,omitempty"`
	Context  int64   `json:"context"`
	Measured float64 `json:"measured_seconds"`
	Fitted   float64 `json:"fitted_seconds"`
	HeldOut  float64 `json:"held_out_seconds,omitempty"`
}

// Outcome is the machine and how it came about.
type Outcome struct {
	Machine   *hw.Cluster
	Changes   []Change
	Residuals []Residual
	Training  []TrainingResidual
	Unused    []string // measurements that no figure takes, and why
	Notes     []string
}

// Fit makes the machine. Errors are bad input.
func Fit(ctx context.Context, in *Input) (*Outcome, error) {
	o := &Outcome{Unused: slices.Clone(in.Unused)}
	switch {
	case in.Base != nil:
		o.Machine = in.Base.Clone()
	default:
		if err := o.cpu(in); err != nil {
			return nil, err
		}
	}
	if in.Name != "" {
		o.Machine.Name = in.Name
	}
	for _, rec := range in.Records {
		o.achieved(rec, in)
	}
	if len(in.Runs) > 0 {
		if err := o.engine(in); err != nil {
			return nil, err
		}
	}
	if len(in.Training) > 0 {
		if err := o.training(ctx, in.Training); err != nil {
			return nil, err
		}
	}
	if len(in.Serving) > 0 {
		if err := o.serving(in); err != nil {
			return nil, err
		}
	}
	if err := o.Machine.Validate(); err != nil {
		return nil, err
	}
	return o, nil
}

// set replaces a figure and books the change.
func (o *Outcome) set(key string, f *hw.Figure, v float64, source string) {
	o.Changes = append(o.Changes, Change{Figure: key, Before: f.Value, After: v, Source: source})
	*f = hw.Figure{Value: v, Grade: hw.Measured, Source: source}
}

func (o *Outcome) unused(rec *record.Record, r *record.Result, why string) {
	o.Unused = append(o.Unused, fmt.Sprintf("%s: %s %s %s: %s", rec.Source, r.Kind, r.What, r.Device, why))
}
