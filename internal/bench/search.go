package bench

import (
	"context"
	"errors"
	"math"

	"github.com/ridgeline/ridgeline/internal/note"
)

// Search looks for the highest load that meets the SLO.
type Search struct {
	Mode      Mode    // Open: requests per second; Closed: requests in flight
	Low, High float64 // where to look
	Level     Level   // the rest of the load: its arrival law
}

// The end of a search: the bracket is within 5 %, or so many stages ran.
const (
	searchWithin = 0.05
	searchStages = 16
)

// Check says what is wrong with the bounds.
func (s *Search) Check() error {
	if !(s.Low > 0 && s.High > s.Low) {
		return errors.New("search: give a range from low to high, such as 1..64")
	}
	if s.Mode == Closed && s.Low < 1 {
		return errors.New("search: at least 1 request in flight")
	}
	return nil
}

// level is the load of one try.
func (s *Search) level(v float64) Level {
	l := s.Level
	l.Mode = s.Mode
	if s.Mode == Closed {
		l.Concurrency = int(math.Round(v))
	} else {
		l.Arrival.Rate = v
	}
	return l
}

// search doubles the load from the low end until the SLO is missed, then halves
// the bracket, on the logarithm, for loads matter by their ratio. What has been
// tried is a stage of the report like any other.
func (r *run) search(ctx context.Context) {
	s := r.c.Search
	met, missed, blind := 0.0, 0.0, false // blind: what was missed may be the client's doing
	defer func() {
		if blind {
			r.warn(note.SearchClient, "load", "the objective was missed at %.4g by a stage whose client was not valid: the limit that was found may be the client's and not the service's; search again from a machine with time to spare", missed)
		}
	}()
	miss := func(v float64) { missed, blind = v, !r.report.Stages[len(r.report.Stages)-1].Client.Valid }
	try := func(v float64) bool {
		i := len(r.report.Stages)
		st := r.stage(ctx, i, 0, s.level(v))
		ok := st.Meets != nil && *st.Meets
		if ok && v > met && ctx.Err() == nil {
			met = v
			r.report.Best = &Best{Stage: i}
			if l := s.level(v); s.Mode == Closed {
				r.report.Best.Concurrency = &l.Concurrency
			} else {
				r.report.Best.Rate = &v
			}
		}
		return ok
	}
	for v := s.Low; ; v = min(2*v, s.High) {
		if ctx.Err() != nil || len(r.report.Stages) >= searchStages {
			return
		}
		if !try(v) {
			miss(v)
			break
		}
		if v == s.High {
			r.warn(note.HighestMet, "load", "the highest load tried, %g, still meets the SLO: search further", v)
			return
		}
	}
	for met > 0 && missed/met > 1+searchWithin && len(r.report.Stages) < searchStages && ctx.Err() == nil {
		v := math.Sqrt(met * missed)
		if s.Mode == Closed {
			if v = math.Round(v); v <= met || v >= missed {
				if v = met + 1; v >= missed {
					return
				}
			}
		}
		if !try(v) {
			miss(v)
		}
	}
}
