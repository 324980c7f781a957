package validate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// lone is a run with the constants that it alone would ask for.
type lone struct {
	*Run
	p     *Prediction
	share float64 // sustained, of a dense model
	// wait of its experts; waits is false for a dense model and where the exchange is paired,
	// which covers the wait.
	wait  unit.Seconds
	waits bool
}

// alone solves every run for its own constants. A run that cannot be predicted is left out.
func alone(ctx context.Context, runs []Run, p *Predictor) ([]lone, error) {
	var list []lone
	for i := range runs {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("interrupted while fitting single runs: %w", err)
		}
		x := lone{Run: &runs[i]}
		inverse, pred, err := exactBy(p, x.Run, probe{1, 1.25}, func(o *cost.Options, v float64) { o.Sustained = 1 / v })
		if err != nil {
			continue
		}
		x.p, x.share = pred, 1/inverse
		if x.waits = pred.Waits; x.waits {
			w, _, err := exactBy(p, x.Run, probe{1e-9, 1e-3}, func(o *cost.Options, v float64) { o.ExpertWait = unit.Seconds(v) })
			if err != nil {
				return nil, err
			}
			x.wait = unit.Seconds(w)
		}
		list = append(list, x)
	}
	return list, nil
}

// family is the sustained share that the dense runs of the Megatron family which keep lets in
// give a device, as refit_constants_test.go does: the median of its own runs, where there are at least least, else of
// the devices of its generation, else of the generations; 0 of none.
func family(all []lone, p *Prediction, least int, keep func(y *lone) bool) float64 {
	runs := map[string]map[string][]float64{} // by generation and device
	for i := range all {
		y := &all[i]
		if y.p.MoE || eagerShares[y.Source] > 0 || !keep(y) {
			continue
		}
		if runs[y.p.Arch] == nil {
			runs[y.p.Arch] = map[string][]float64{}
		}
		runs[y.p.Arch][y.p.Device] = append(runs[y.p.Arch][y.p.Device], y.share)
	}
	archs := map[string]float64{}
	for arch, devices := range runs {
		var shares []float64
		for device, v := range devices {
			if len(v) < least {
				continue
			}
			if device == p.Device {
				return median(v)
			}
			shares = append(shares, median(v))
		}
		if len(shares) > 0 {
			archs[arch] = median(shares)
		}
	}
	if share, ok := archs[p.Arch]; ok {
		return share
	}
	return medianOrZero(slices.Collect(maps.Values(archs)))
}

func medianOrZero(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	return median(v)
}

// medianOf is the median of what f picks from the runs, 0 of none.
func medianOf(list []lone, f func(x *lone) (float64, bool)) float64 {
	var v []float64
	for i := range list {
		if y, ok := f(&list[i]); ok {
			v = append(v, y)
		}
	}
	return medianOrZero(v)
}

// left is what a run's prediction may not have seen.
type left struct {
	what string
	// far tells whether run y may be seen.
	far func(x, y *lone) bool
	// own keeps the runs of an engine for its own share, of which they alone tell.
	own bool
}

// lefts are the three ways to leave out; a model is another one under other arch_params.
var lefts = []left{
	{"model", func(x, y *lone) bool { return y.Model != x.Model || y.ArchParams != x.ArchParams }, false},
	{"gpu", func(x, y *lone) bool { return y.p.Device != x.p.Device }, true},
	{"framework", func(x, y *lone) bool { return y.Source != x.Source }, false},
}

// without predicts a run with the constants that the other runs say: the sustained share, the
// experts' wait and an eager engine's share. It gives the predicted over the measured
// throughput, 0 where no other run tells a share.
func (l *left) without(all []lone, x *lone, p *Predictor) (float64, error) {
	far := func(y *lone) bool { return l.far(x, y) }
	o := p.Options
	if o.Sustained = family(all, x.p, leastRows, far); o.Sustained == 0 {
		return 0, nil
	}
	o.ExpertWait = unit.Seconds(medianOf(all, func(y *lone) (float64, bool) {
		return float64(y.wait), y.waits && far(y) && eagerShares[y.Source] == 0
	}))
	if eagerShares[x.Source] > 0 {
		share := medianOf(all, func(y *lone) (float64, bool) {
			if y.Source != x.Source || y.Seq >= longSeq || !l.own && !far(y) {
				return 0, false
			}
			return y.share / family(all, y.p, leastRows, far), true
		})
		if share > 0 { // else nothing tells what the engine loses
			o.Sustained *= share
		}
	}
	with := Predictor{Configs: p.Configs, Options: o}
	y, err := with.Predict(x.Run)
	if err != nil {
		return 0, err
	}
	return y.TokensPerSecondPerGPU() / x.TokensPerSecondPerGPU, nil
}

// TrainingLeaveOut predicts every run with constants of which it took no part: fitted again without
// its model, without its GPU, without its framework (source). Kernel constants come
// from kernel tables and stay. Where fewer than leastRows dense runs of a device are left,
// those of other devices tell its share, and where there are none the run is in no group, which a
// note says. A group for each of the three over all, dense and
// mixture-of-experts models and for each thing left out, key: left_out, which, ffn.
func TrainingLeaveOut(ctx context.Context, runs []Run, p *Predictor) (groups []Group, notes []string, err error) {
	all, err := alone(ctx, runs, p)
	if err != nil {
		return nil, nil, err
	}
	for k := range lefts {
		l := &lefts[k]
		byFFN, byName := map[string][]float64{}, map[string][]float64{}
		var names []string
		lone := 0
		for i := range all {
			if err := ctx.Err(); err != nil {
				return nil, nil, fmt.Errorf("interrupted while leaving runs out: %w", err)
			}
			x := &all[i]
			ratio, err := l.without(all, x, p)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", x.ID, err)
			}
			if ratio == 0 {
				lone++
				continue
			}
			name, ffn := l.name(x), "dense"
			if x.p.MoE {
				ffn = "moe"
			}
			if byName[name] == nil {
				names = append(names, name)
			}
			byName[name] = append(byName[name], ratio)
			byFFN[ffn], byFFN[""] = append(byFFN[ffn], ratio), append(byFFN[""], ratio)
			if ffn == "dense" && x.Recompute != "" {
				byFFN[CutDense] = append(byFFN[CutDense], ratio)
			}
		}
		if lone > 0 {
			notes = append(notes, fmt.Sprintf("%s left out: %d of %d runs are not stated: without the runs of their own %s fewer than %d dense runs of the Megatron family are left of every GPU, and no share can be fitted", l.what, lone, len(all), l.what, leastRows))
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

// name is what of a run is left out.
func (l *left) name(x *lone) string {
	switch l.what {
	case "gpu":
		return x.p.Device
	case "framework":
		return x.Source
	}
	return x.Model
}
