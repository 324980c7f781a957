package validate

import "slices"

// Target is an error to stay below, beside what is reached; fractions. A zero target is none.
// Targets are meant for errors cross-validated or on rows that no constant was fitted to: Cross
// stands against them where there is one, and LeftOut says how it stands on new ground.
type Target struct {
	What         string  `json:"what"`
	N            int     `json:"n"`
	Median       float64 `json:"median_ape"`
	Mean         float64 `json:"mape"`
	TargetMedian float64 `json:"target_median_ape"`
	TargetMean   float64 `json:"target_mape,omitempty"`
	// Fitted says which of the rows constants were fitted to.
	Fitted string `json:"fitted"`
	// Cross are the cross-validated errors: with constants fitted to other rows (CutRow), and to
	// rows of other services or jobs (CutService, CutJob), or to a run's other half (CutHalf). None where nothing was fitted to such
	// rows, and of serving runs that are not the published ones.
	Cross []TargetLeftOut `json:"cross_validated,omitempty"`
	// LeftOut are the errors with constants that did not see the row's model, GPU, engine or framework;
	// none where Cross has none.
	LeftOut []TargetLeftOut `json:"left_out,omitempty"`
}

// TargetLeftOut is a target's error with something left out of the fit.
type TargetLeftOut struct {
	What   string  `json:"left_out"` // model, gpu, engine or framework; CutRow, CutService, CutJob or CutHalf
	N      int     `json:"n"`
	Median float64 `json:"median_ape"`
	Mean   float64 `json:"mape"`
}

// Met tells whether neither target is missed, by every cross-validation where there is one, else
// on the rows scored.
func (t *Target) Met() bool {
	for i := range t.Cross {
		if !t.MetLeftOut(&t.Cross[i]) {
			return false
		}
	}
	return len(t.Cross) > 0 || t.holds(t.Median, t.Mean)
}

// MetLeftOut tells it of an error with something left out.
func (t *Target) MetLeftOut(l *TargetLeftOut) bool { return t.holds(l.Median, l.Mean) }

func (t *Target) holds(median, mean float64) bool {
	return median <= t.TargetMedian && (t.TargetMean == 0 || mean <= t.TargetMean)
}

// Which rows of a target constants were fitted to.
const (
	fittedSome = "a few rows of each table"
	fittedAll  = "these rows"
	fittedNone = "no row"
	notKnown   = "not known" // of tables that are not the published ones
)

// The published measurements that constants are fitted to: their rows, and the replayed runs
// (shared/measured; the serving runs' number stands in serving_left_out.json).
const (
	publishedKernels  = 3152367
	publishedTraining = 401
)

var publishedRequests = []string{"RTX4090-Llama-3.1-8B", "RTXPRO6000-Qwen3-32B"}

// ofPublished is fitted of a table with the published number of rows, else what is not known.
func ofPublished(fitted string, is bool) string {
	if is {
		return fitted
	}
	return notKnown
}

// targets puts what is reached beside what should be, in the order of the kinds.
func targets(a *Accuracy) []Target {
	var list []Target
	add := func(what string, e *Errors, median, mean float64, fitted string, left, cross []TargetLeftOut) {
		if e != nil && e.N > 0 {
			list = append(list, Target{what, e.N, e.MedianAPE, e.MAPE, median, mean, fitted, cross, left})
		}
	}
	if d := a.Operators; d != nil {
		fittedSome := ofPublished(fittedSome, d.Rows == publishedKernels)
		add("GEMM tables", d.cut(CutGEMM), 0.07, 0.12, fittedSome, nil, nil)
		add("MoE tables", d.cut(CutExperts), 0.12, 0.20, fittedSome, nil, nil)
		add("attention and MLA tables", d.cut(CutAttention), 0.10, 0.16, fittedSome, nil, nil)
		add("collectives in one node", d.cut(CutCollectives), 0.12, 0.20, fittedSome, nil, nil)
	}
	if d := a.Serving; d != nil {
		fittedAll := ofPublished(fittedAll, d.Rows == StoredLeftOut().Rows)
		left, cross := servingLeftOut(d, func(g *Group) *Errors { return &g.Errors })
		add("serving TPOT", d.metric(MetricTPOT), 0.07, 0.12, fittedAll, left, cross)
		left, cross = servingLeftOut(d, func(g *Group) *Errors { return g.TTFT })
		add("serving TTFT", d.metric(MetricTTFT), 0.18, 0.30, fittedAll, left, cross)
	}
	for i := range a.Requests {
		list = append(list, requestTargets(&a.Requests[i])...)
	}
	if d := a.Training; d != nil {
		fittedAll := ofPublished(fittedAll, d.Rows == publishedTraining)
		for _, x := range []struct {
			what, ffn    string
			e            *Errors
			median, mean float64
		}{
			{CutDense, CutDense, d.cut(CutDense), 0.05, 0.08}, {CutMoE, "moe", d.cut(CutMoE), 0.12, 0.18}, {"all", "", d.metric(MetricThroughput), 0.09, 0.14},
		} {
			left, cross := trainingLeftOut(d, x.ffn)
			add("training tokens/s, "+x.what, x.e, x.median, x.mean, fittedAll, left, cross)
		}
		add("training memory", d.metric(MetricMemory), 0.05, 0.08, fittedNone, nil, nil)
	}
	return list
}

// requestTargets are those of a replayed run, cross-validated where it is a published one.
func requestTargets(r *RequestsOutcome) (list []Target) {
	left := leftOutRequests(r.Run, r.Rows)
	for _, x := range []struct {
		what, metric string
		of           func(s *Spread) float64
		without      func(p *LeftOutPart) float64
		most         float64
	}{
		{"mean TPOT", MetricTPOT, func(s *Spread) float64 { return s.Mean }, func(p *LeftOutPart) float64 { return p.TPOT }, 0.03},
		{"mean TTFT", MetricTTFT, func(s *Spread) float64 { return s.Mean }, func(p *LeftOutPart) float64 { return p.TTFT }, 0.12},
		{"p99 TTFT", MetricTTFT, func(s *Spread) float64 { return s.P99 }, func(p *LeftOutPart) float64 { return p.Late }, 0.15},
	} {
		e := r.metric(x.metric)
		if e == nil || e.Spread == nil || e.N == 0 {
			continue
		}
		t := Target{What: x.what + " of " + r.Run, N: e.N, Median: x.of(e.Spread), TargetMedian: x.most,
			Fitted: ofPublished(fittedAll, slices.Contains(publishedRequests, r.Run))}
		if left != nil {
			mean := &left.Parts[len(left.Parts)-1]
			t.Cross = []TargetLeftOut{{What: CutHalf, N: mean.N, Median: x.without(mean)}}
		}
		list = append(list, t)
	}
	return list
}

// trainingLeftOut are the errors of runs left out, of the models of one kind; "" of all: of what
// no constant saw, and cross-validated.
func trainingLeftOut(d *Document, ffn string) (left, cross []TargetLeftOut) {
	for i := range d.LeftOut {
		g := &d.LeftOut[i]
		if g.Key["which"] != "each" || g.Key["ffn"] != ffn {
			continue
		}
		x := TargetLeftOut{g.Key["left_out"], g.N, g.MedianAPE, g.MAPE}
		if x.What == CutRow || x.What == CutJob {
			cross = append(cross, x)
		} else {
			left = append(left, x)
		}
	}
	return left, cross
}

// servingLeftOut are the stored errors of serving runs left out, where the document is of
// the runs that they are of: of what no constant saw, and cross-validated.
func servingLeftOut(d *Document, of func(*Group) *Errors) (left, cross []TargetLeftOut) {
	s := StoredLeftOut()
	if s.Rows != d.Rows {
		return nil, nil // a table of the user's
	}
	for i := range s.Cuts {
		c := &s.Cuts[i]
		for k := range c.Groups {
			g := &c.Groups[k]
			e := of(g)
			if g.Key["which"] != "each" || e == nil {
				continue
			}
			if x := (TargetLeftOut{c.LeftOut, e.N, e.MedianAPE, e.MAPE}); c.folded() {
				cross = append(cross, x)
			} else {
				left = append(left, x)
			}
		}
	}
	return left, cross
}

func (d *Document) cut(name string) *Errors {
	for i := range d.Cuts {
		if d.Cuts[i].Key["cut"] == name {
			return &d.Cuts[i].Errors
		}
	}
	return nil
}

func (d *Document) metric(name string) *Errors {
	e, ok := d.Metrics[name]
	if !ok {
		return nil
	}
	return &e
}
