package validate

import (
	"context"
	"fmt"

	"github.com/ridgeline/ridgeline/internal/cost"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// lone is a run with the constants that it alone would ask for.
type lone struct {
	*Run
	p     *Prediction
	share float64 // sustained, of a dense model
	// wait of its experts where the device sustains the share at, and how much longer it is
	// for each unit that 1/share falls; waits is false for a dense model and where the exchange is
	// paired, which covers the wait.
	wait     unit.Seconds
	at, rise float64
	waits    bool
}

// waitAt is the wait that makes the run exact where its device sustains another share: its
// step is linear in the wait and in the inverse of the share.
func (x *lone) waitAt(share float64) unit.Seconds {
	return x.wait + unit.Seconds(x.rise*(1/x.at-1/share))
}

// alone solves every run for its own constants. A run that cannot be predicted is left out.
func alone(ctx context.Context, runs []Run, p *Predictor) ([]lone, error) {
	var list []lone
	for i := range runs {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("interrupted while fitting single runs: %w", err)
		}
		x := lone{Run: &runs[i]}
		inverse, pred, err := solveBy(p, x.Run, probe{1, 1.25}, func(o *cost.Options, v float64) { o.Sustained = 1 / v })
		if err != nil {
			continue
		}
		x.p, x.share = pred, 1/inverse.value
		if x.waits = pred.Waits; x.waits {
			w, stored, err := solveBy(p, x.Run, probe{1e-9, 1e-3}, func(o *cost.Options, v float64) { o.ExpertWait = unit.Seconds(v) })
			if err != nil {
				return nil, err
			}
			x.wait, x.at, x.rise = unit.Seconds(w.value), stored.Sustained, inverse.slope/w.slope
		}
		list = append(list, x)
	}
	return list, nil
}

// again is the constants that no kernel table shows, fitted to whole steps of some runs, one
// after the other: the sustained shares to dense models, then the experts' wait to the others,
// the eager engines' shares and their attention to their own runs. Each is the median of the
// values with which single runs would be exact; kept once asked for. The stored ones are those
// of all published runs (refit_test.go).
type again struct {
	p         *Predictor
	runs      []lone
	shares    map[string]float64 // sustained, by device; 0 = no run tells
	engines   map[string]float64 // by source, likewise
	attention map[string]float64 // by generation, likewise
	wait      *unit.Seconds
	fit       *shareFit
}

func newAgain(runs []lone, p *Predictor) *again {
	return &again{p: p, runs: runs, shares: map[string]float64{}, engines: map[string]float64{}, attention: map[string]float64{}}
}

// share is the sustained share of a prediction's device.
func (a *again) share(p *Prediction) float64 {
	v, ok := a.shares[p.Device]
	if !ok {
		v = a.shareFit().of(p)
		a.shares[p.Device] = v
	}
	return v
}

// shareFit is the fit of sustained shares to the runs.
func (a *again) shareFit() *shareFit {
	if a.fit == nil {
		a.fit = fitShares(a.runs)
	}
	return a.fit
}

func medianOrZero(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	return median(v)
}

// expertWait is the wait of a layer with routed experts, 0 where no run tells.
func (a *again) expertWait() unit.Seconds {
	if a.wait == nil {
		w := unit.Seconds(medianOrZero(a.expertWaits()))
		a.wait = &w
	}
	return *a.wait
}

// expertWaits is the waits with which single runs of the Megatron family would be exact, seconds.
func (a *again) expertWaits() []float64 {
	var v []float64
	for i := range a.runs {
		y := &a.runs[i]
		if share := a.share(y.p); y.waits && y.inFits() && !y.eager() && share > 0 {
			v = append(v, float64(y.waitAt(share)))
		}
	}
	return v
}

// engineShare is what a source's engine leaves of the sustained share in dense runs, 0 where no run tells.
func (a *again) engineShare(source string) float64 {
	v, ok := a.engines[source]
	if !ok {
		var shares []float64
		for i := range a.runs {
			if y := &a.runs[i]; y.Source == source && y.Seq < longSeq && !y.p.MoE {
				if share := a.share(y.p); share > 0 {
					shares = append(shares, y.share/share)
				}
			}
		}
		v = medianOrZero(shares)
		a.engines[source] = v
	}
	return v
}

// strangersShare is that of an engine which no run tells: the mean of the engines that runs tell, each by its own runs; of
// gradients or weights sharded by PyTorch of those alone that have a share of their own.
func (a *again) strangersShare(r *Run) float64 {
	var shares []float64
	seen, like := map[string]bool{}, r.ZeRO >= 2 || engineOf(r).deepspeed
	for i := range a.runs {
		y := &a.runs[i]
		if y.p.MoE || seen[y.Source] || like && !y.eager() {
			continue
		}
		seen[y.Source] = true
		if share := a.engineShare(y.Source); share > 0 {
			shares = append(shares, share)
		}
	}
	return meanShare(shares)
}

// olderAttention is the share of today's fused attention that kernels of 2023 reach on a
// generation: the median of what runs of long sequences ask for, of the generation or, where it has none,
// of the others, as far as these lie from what is published of them; what is published where no run tells.
func (a *again) olderAttention(arch string) (float64, error) {
	if v, ok := a.attention[arch]; ok {
		return v, nil
	}
	byArch := map[string][]float64{}
	for i := range a.runs {
		y := &a.runs[i]
		sustained := a.share(y.p) * a.engineShare(y.Source)
		if !engineOf(y.Run).older || y.Seq < longSeq || sustained == 0 {
			continue
		}
		by := *a.p
		by.Options.Sustained = sustained
		inverse, _, err := solveBy(&by, y.Run, probe{1, 2}, func(o *cost.Options, v float64) { o.Attention = 1 / v })
		if err != nil {
			return 0, err
		}
		byArch[y.p.Arch] = append(byArch[y.p.Arch], 1/inverse.value)
	}
	v := publishedAttention(arch)
	switch {
	case len(byArch[arch]) > 0:
		v = median(byArch[arch])
	case len(byArch) > 0:
		var others []float64
		for of, shares := range byArch {
			others = append(others, median(shares)/publishedAttention(of))
		}
		v = min(1, v*median(others))
	}
	a.attention[arch] = v
	return v, nil
}

// ratio predicts a run with the constants and gives predicted over measured throughput; 0
// where no run tells a sustained share. A source whose engine's own share no run tells is
// predicted as a stranger, or, where it must be told, is 0 as well.
func (a *again) ratio(x *lone, told bool) (float64, error) {
	with := *a.p
	o := &with.Options
	if o.Sustained = a.share(x.p); o.Sustained == 0 {
		return 0, nil
	}
	o.ExpertWait = a.expertWait()
	share := a.engineShare(x.Source)
	switch {
	case share == 0 && !told:
		o.Sustained *= a.strangersShare(x.Run)
	case share == 0 && x.eager():
		return 0, nil
	case x.eager():
		o.Sustained *= share
	}
	if engineOf(x.Run).older {
		var err error
		if o.Attention, err = a.olderAttention(x.p.Arch); err != nil {
			return 0, err
		}
	}
	y, err := with.Predict(x.Run)
	if err != nil {
		return 0, err
	}
	return y.TokensPerSecondPerGPU() / x.TokensPerSecondPerGPU, nil
}
