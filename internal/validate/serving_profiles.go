package validate

import (
	"fmt"
	"slices"

	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/infer"
)

// Stored are the fitted profiles as package infer keeps them, with what they were fitted
// on and their errors as source, and behind them those of known that no fit replaces:
// generations without runs. what names the runs.
func Stored(fits []ProfileFit, known []infer.Profile, what string) []infer.Profile {
	var list []infer.Profile
	for _, f := range fits {
		q := f.Profile
		q.Grade, q.Source = hw.Measured, fmt.Sprintf("fitted on %d serving runs (%s): %s", f.Rows, what, errorText(f.TPOT, f.TTFT))
		if f.HeldTPOT.N > 0 {
			q.Source += "; models held out " + f.HeldText()
		}
		list = append(list, q)
	}
	for _, q := range known {
		if !slices.ContainsFunc(list, func(p infer.Profile) bool { return p.Engine == q.Engine && p.Arch == q.Arch && p.Before == q.Before }) {
			list = append(list, q)
		}
	}
	return list
}

// HeldText words the errors of runs that were left out of the fit.
func (f *ProfileFit) HeldText() string { return errorText(f.HeldTPOT, f.HeldTTFT) }

func errorText(tpot, ttft Errors) string {
	s := fmt.Sprintf("TPOT off by %.1f %% median, %.1f %% mean", 100*tpot.MedianAPE, 100*tpot.MAPE)
	if ttft.N > 0 {
		s += fmt.Sprintf(", TTFT %.1f %%, %.1f %%", 100*ttft.MedianAPE, 100*ttft.MAPE)
	}
	return s
}
