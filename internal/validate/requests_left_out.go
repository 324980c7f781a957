package validate

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"
)

// CutHalf is the cross-validation of replayed runs: the requests of one half, by arrival, with
// constants fitted to the other half.
const CutHalf = "half"

// LeftOutRequests is how a half of a replayed run is met by constants that did not see it. Of
// several cards these are the constants of their exchanges, the card's being those of the other
// run whole, as in the catalogue.
type LeftOutRequests struct {
	Run     string        `json:"run"`
	Written string        `json:"written"` // the day
	Parts   []LeftOutPart `json:"parts"`   // the first half, the second, and the mean of their errors
}

// LeftOutPart is the errors of statistics over the requests of a part, fractions.
type LeftOutPart struct {
	Part string  `json:"part"`
	N    int     `json:"n"`
	TPOT float64 `json:"tpot_mean"`
	TTFT float64 `json:"ttft_mean"`
	Late float64 `json:"ttft_p99"`
}

//go:embed requests_left_out.json
var requestsLeftOutFile []byte

// StoredLeftOutRequests is what TestRequestsLeaveOut wrote with -update.
var StoredLeftOutRequests = sync.OnceValue(func() []LeftOutRequests {
	var s []LeftOutRequests
	if err := json.Unmarshal(requestsLeftOutFile, &s); err != nil {
		panic("validate: requests_left_out.json: " + err.Error()) // embedded; the tests rule it out
	}
	return s
})

// leftOutRequests are the stored errors of a published run, by its name and number of
// requests; nil of others, which no constant was fitted to.
func leftOutRequests(run string, rows int) *LeftOutRequests {
	for i, s := range StoredLeftOutRequests() {
		if s.Run == run && s.Parts[len(s.Parts)-1].N == rows {
			return &StoredLeftOutRequests()[i]
		}
	}
	return nil
}

// note words them beside the errors of a run that constants were fitted to.
func (l *LeftOutRequests) note() string {
	p := l.Parts[len(l.Parts)-1]
	return fmt.Sprintf("Constants of these cards were fitted to this run. Each half of its requests with constants fitted to the other half: mean TPOT is off by %.1f %%, mean TTFT by %.1f %%, its p99 by %.1f %%, in the mean of both halves.",
		100*p.TPOT, 100*p.TTFT, 100*p.Late)
}

// leaveHalves predicts each half of the run with constants of the list, from base, fitted to the
// other half.
func (r *replayed) leaveHalves(ctx context.Context, base cardConstants, list []cardKnob) ([]LeftOutPart, error) {
	n := len(r.measured)
	var parts []LeftOutPart
	for _, h := range []struct {
		part               string
		from, to, fit, end int
	}{{"first half", 0, n / 2, n / 2, n}, {"second half", n / 2, n, 0, n / 2}} {
		c, err := r.fit(ctx, base, list, h.fit, h.end)
		if err != nil {
			return nil, err
		}
		x, err := r.replay(ctx, &c)
		if err != nil {
			return nil, err
		}
		ttft, tpot := r.pairsOf(x, h.from, h.to)
		a, b := tpot.errors(), ttft.errors()
		parts = append(parts, LeftOutPart{h.part, b.N, a.Spread.Mean, b.Spread.Mean, b.Spread.P99})
	}
	a, b := &parts[0], &parts[1] // too fast in one half does not make good too slow in the other
	return append(parts, LeftOutPart{"mean of both", a.N + b.N, (a.TPOT + b.TPOT) / 2, (a.TTFT + b.TTFT) / 2, (a.Late + b.Late) / 2}), nil
}
