package validate

import (
	"context"
	"fmt"
	"slices"
)

// left is a way to leave runs out: constants that predict a run saw none that shares its value of of.
type left struct {
	what string
	of   func(x *lone) string
	// own words what runs are predicted without, in notes.
	own string
	// stranger lets an engine be predicted whose own share no run tells: it is what is left out.
	stranger bool
}

// lefts are the ways to leave out; a model is another one under other arch_params. The last two are
// cross-validations by fifths, see foldOf.
var lefts = []left{
	{"model", func(x *lone) string { return x.Model + " " + x.ArchParams }, "their own model", false},
	{"gpu", func(x *lone) string { return x.p.Device }, "their own gpu", false},
	{"framework", func(x *lone) string { return x.Source }, "their own framework", true},
	{CutRow, func(x *lone) string { return foldOf(x.ID) }, "their fifth of all rows", false},
	{CutJob, func(x *lone) string { return foldOf(x.job()) }, "their fifth of all jobs", false},
}

// ratios predicts every run with the constants fitted to those that are left, see again.ratio.
func (l *left) ratios(ctx context.Context, all []lone, p *Predictor) ([]float64, error) {
	list := make([]float64, len(all))
	fits := map[string]*again{}
	for i := range all {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("interrupted while leaving runs out: %w", err)
		}
		x := &all[i]
		out := l.of(x)
		if fits[out] == nil {
			fits[out] = newAgain(slices.DeleteFunc(slices.Clone(all), func(y lone) bool { return l.of(&y) == out }), p)
		}
		var err error
		if list[i], err = fits[out].ratio(x, !l.stranger); err != nil {
			return nil, fmt.Errorf("%s: %w", x.ID, err)
		}
	}
	return list, nil
}

// TrainingLeaveOut predicts every run with constants of which it took no part: fitted again without
// its model, without its GPU, without its framework (source), without its fifth of the rows (CutRow) and
// without its fifth of the jobs (CutJob). Kernel constants come
// from kernel tables and stay. Where fewer than leastRows dense runs of a device are left,
// those of other devices tell its share; where there are none, or none of an engine with a share of
// its own, the run is in no group, which a note says. A group for each of the five over all, dense and
// mixture-of-experts models and, of the first three, for each thing left out, key: left_out, which, ffn.
func TrainingLeaveOut(ctx context.Context, runs []Run, p *Predictor) (groups []Group, notes []string, err error) {
	all, err := alone(ctx, runs, p)
	if err != nil {
		return nil, nil, err
	}
	for k := range lefts {
		l := &lefts[k]
		ratios, err := l.ratios(ctx, all, p)
		if err != nil {
			return nil, nil, err
		}
		byFFN, byName := map[string][]float64{}, map[string][]float64{}
		var names []string
		lone := 0
		for i, ratio := range ratios {
			if ratio == 0 {
				lone++
				continue
			}
			x := &all[i]
			if name := l.name(x); name != "" {
				if byName[name] == nil {
					names = append(names, name)
				}
				byName[name] = append(byName[name], ratio)
			}
			ffn := ffnOf(x.p)
			byFFN[ffn], byFFN[""] = append(byFFN[ffn], ratio), append(byFFN[""], ratio)
			if ffn == "dense" && x.Recompute != "" {
				byFFN[CutDense] = append(byFFN[CutDense], ratio)
			}
		}
		if lone > 0 {
			notes = append(notes, fmt.Sprintf("%s left out: %d of %d runs are not stated: without the runs of %s fewer than %d dense runs of the Megatron family are left of every GPU, and no share can be fitted, or none is left of an engine that has a share of its own", l.what, lone, len(all), l.own, leastRows))
		}
		for _, ffn := range []string{"", "dense", CutDense, "moe"} {
			if v := byFFN[ffn]; len(v) > 0 && (ffn == "" || len(v) < len(byFFN[""])) {
				groups = append(groups, Group{Key: map[string]string{"left_out": l.what, "which": "each", "ffn": ffn}, Errors: errorsOf(v)})
			}
		}
		slices.Sort(names)
		for _, name := range names {
			groups = append(groups, Group{Key: map[string]string{"left_out": l.what, "which": name, "ffn": ""}, Errors: errorsOf(byName[name])})
		}
	}
	return groups, notes, nil
}

// name is what of a run is left out; "" of fifths.
func (l *left) name(x *lone) string {
	switch l.what {
	case "model":
		return x.Model
	case "gpu":
		return x.p.Device
	case "framework":
		return x.Source
	}
	return ""
}
