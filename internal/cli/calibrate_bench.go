package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/input"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/validate"
)

// sweepFlags are documents of bench and what they leave unsaid about the service.
type sweepFlags struct {
	files, layouts, weights []string
}

func (f *sweepFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringArrayVar(&f.files, "bench", nil, "the JSON of bench on a service of a model, `MODEL=FILE`, as serving runs; may be given several times")
	fs.StringArrayVar(&f.layouts, "layout", nil, "`KEYS` of a --bench's deployment, such as tp=8, as in ridgeline infer --plan; once for all or for each")
	fs.StringArrayVar(&f.weights, "weights", nil, "`FORMAT` of a --bench's weights; once for all or for each (default bf16)")
}

// read makes serving runs of the documents, on base with engine; skipped are stages that no
// fit takes.
func (f *sweepFlags) read(base *hw.Cluster, engine string) (runs []validate.ServingRun, skipped []validate.Skipped, err error) {
	n := len(f.files)
	for _, x := range []struct {
		name   string
		values []string
		needed bool
	}{{"layout", f.layouts, true}, {"weights", f.weights, false}} {
		switch {
		case n == 0 && len(x.values) > 0:
			return nil, nil, usagef("--%s is of a run of bench: give --bench MODEL=FILE too", x.name)
		case len(x.values) > 1 && len(x.values) != n:
			return nil, nil, usagef("--%s is given %d times for %d runs of bench: give it once for all, or once for each", x.name, len(x.values), n)
		case n > 0 && x.needed && len(x.values) == 0:
			return nil, nil, usagef("--bench needs --%s: name the deployment that was measured, for example tp=8", x.name)
		}
	}
	if n > 0 && base == nil {
		return nil, nil, usagef("--bench needs --cluster: name the machine of the service, for example h200x8")
	}
	for i := range f.files {
		some, left, err := f.one(i, base, engine)
		if err != nil {
			return nil, nil, err
		}
		runs, skipped = append(runs, some...), append(skipped, left...)
	}
	if n > 0 && len(runs) == 0 {
		return nil, nil, usagef("--bench: no stage can be used: %s: %s", skipped[0].ID, skipped[0].Reason)
	}
	return runs, skipped, nil
}

func (f *sweepFlags) one(i int, base *hw.Cluster, engine string) ([]validate.ServingRun, []validate.Skipped, error) {
	model, file, ok := strings.Cut(f.files[i], "=")
	if !ok || model == "" || file == "" {
		return nil, nil, usagef("--bench %q: give MODEL=FILE, for example llama-3.1-70b=bench.json", f.files[i])
	}
	text, err := plan.ParseServing(each(f.layouts, i, ""))
	if err != nil {
		return nil, nil, badInput(err)
	}
	if text.Whole == nil {
		return nil, nil, usagef("--layout: two roles are in no fit: give one, for example tp=8")
	}
	p := text.Whole.Serving
	for _, d := range []*int{&p.TP, &p.PP, &p.DP, &p.EP, &p.DCP} {
		*d = max(*d, 1)
	}
	if base.GPUs%int64(p.GPUs()) != 0 {
		return nil, nil, usagef("--layout %s: %d GPUs do not divide --cluster's %d", each(f.layouts, i, ""), p.GPUs(), base.GPUs)
	}
	p.Replicas = int(base.GPUs) / p.GPUs()
	if engine == "" {
		engine = infer.DefaultProfile(base.Device.Arch).Engine
	}
	in, err := input.Open(file)
	if err != nil {
		return nil, nil, usagef("%w: give the document of `ridgeline bench --json`", err)
	}
	defer in.Close()
	job := &validate.ServingRun{Model: model, GPU: base.Device.Name, Engine: engine, Weights: each(f.weights, i, "bf16"), GPUs: int(base.GPUs), Plan: p}
	runs, skipped, err := validate.ReadBench(in, file, job)
	return runs, skipped, badInput(err)
}

// each is the i-th value, or the only one, or what stands for none.
func each(values []string, i int, missing string) string {
	switch len(values) {
	case 0:
		return missing
	case 1:
		return values[0]
	}
	return values[i]
}

// notes words stages that no fit takes.
func (f *sweepFlags) notes(skipped []validate.Skipped) (list []string) {
	for _, s := range skipped {
		list = append(list, fmt.Sprintf("%s: %s", s.ID, s.Reason))
	}
	return list
}
