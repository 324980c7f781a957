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
	"strings"

	"github.com/ridgeline/ridgeline/internal/catalog"
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
	// ServingFrom names where Serving comes from, for errors.
	ServingFrom string
	Configs     string // folder of Hugging Face configurations for their models
}

// Run is measurements of an engine with a model.
type Run struct {
	Model  *model.Model
	Record *record.Record
}

// Change is one figure of the machine that a measurement replaced, or that was asked of
// the measurements and kept.
type Change struct {
	Figure string   `json:"figure"`         // its key in the machine file
	Unit   string   `json:"unit,omitempty"` // the one that the key spells; of Before and After
	Before *float64 `json:"before"`         // nil = not known
	After  float64  `json:"after"`
	Kept   bool     `json:"kept,omitempty"` // the measurements do not settle it: Source says which would
	Source string   `json:"source"`
}

// Residual is one measurement of an engine beside what the fit gives. HeldOut is the
// same predicted by a fit without this measurement, 0 where nothing else tells.
type Residual struct {
	Run      string  `json:"run,omitempty"` // its id, of a serving run
	Model    string  `json:"model"`
	What     string  `json:"what"`
	Layout   string  `json:"layout,omitempty"` // of a serving run
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
	// Warnings are reasons not to use the machine: figures that predict unseen runs worse than the ones
	// before. The source of such a figure, which the machine file keeps, says so too.
	Warnings []string

	madeOf map[*record.Result]bool // results that the CPU's machine was made of
}

// Fit makes the machine. Errors are bad input.
func Fit(ctx context.Context, in *Input) (*Outcome, error) {
	o := &Outcome{Unused: slices.Clone(in.Unused), madeOf: map[*record.Result]bool{}}
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
	o.achieved(in)
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
		if err := o.serving(ctx, in); err != nil {
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
	o.change(key, *f, v, source)
	*f = hw.Figure{Value: v, Grade: hw.Measured, Source: source}
}

// change books a figure in the unit that its key spells; before and after are SI.
func (o *Outcome) change(key string, before hw.Figure, after float64, source string) {
	name, si := catalog.KeyUnit(key)
	c := Change{Figure: key, Unit: name, After: after / si, Source: source}
	if before.Known() {
		v := before.Value / si
		c.Before = &v
	}
	o.Changes = append(o.Changes, c)
}

// unused books a result that sets no figure, named by what tells it from its like.
func (o *Outcome) unused(rec *record.Record, r *record.Result, why string) {
	what := []string{r.Kind, r.What, r.Format, r.Device}
	if r.Kind == record.Collective { // the two of a row of nccl-tests
		what = append(what, r.Kernel)
	}
	if r.Bytes > 0 {
		what = append(what, fmt.Sprintf("of %d bytes", r.Bytes))
	}
	if r.Ranks > 1 {
		what = append(what, fmt.Sprintf("on %d ranks", r.Ranks))
	}
	o.Unused = append(o.Unused, fmt.Sprintf("%s: %s: %s", rec.Source, strings.Join(strings.Fields(strings.Join(what, " ")), " "), why))
}
