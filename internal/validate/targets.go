package validate

import "slices"

// Target is an error to stay below, beside what is reached; fractions. A zero target is none.
// Targets are meant for rows that no constant was fitted to: LeftOut says how it stands there.
type Target struct {
	What         string  `json:"what"`
	N            int     `json:"n"`
	Median       float64 `json:"median_ape"`
	Mean         float64 `json:"mape"`
	TargetMedian float64 `json:"target_median_ape"`
	TargetMean   float64 `json:"target_mape,omitempty"`
	// Fitted says which of the rows constants were fitted to.
	Fitted string `json:"fitted"`
	// LeftOut are the errors with constants that did not see the row's model, GPU or framework;
	// none where nothing was fitted or none is stored.
	LeftOut []TargetLeftOut `json:"left_out,omitempty"`
}

// TargetLeftOut is a target's error with something left out of the fit.
type TargetLeftOut struct {
	What   string  `json:"left_out"` // model, gpu or framework
	N      int     `json:"n"`
	Median float64 `json:"median_ape"`
	Mean   float64 `json:"mape"`
}

// Met tells whether neither target is missed on the rows scored.
func (t *Target) Met() bool { return t.holds(t.Median, t.Mean) }

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
	add := func(what string, e *Errors, median, mean float64, fitted string, left ...TargetLeftOut) {
		if e != nil && e.N > 0 {
			list = append(list, Target{what, e.N, e.MedianAPE, e.MAPE, median, mean, fitted, left})
		}
	}
	if d := a.Operators; d != nil {
		fittedSome := ofPublished(fittedSome, d.Rows == publishedKernels)
		add("GEMM tables", d.cut(CutGEMM), 0.07, 0.12, fittedSome)
		add("MoE tables", d.cut(CutExperts), 0.12, 0.20, fittedSome)
		add("attention and MLA tables", d.cut(CutAttention), 0.10, 0.16, fittedSome)
		add("collectives in one node", d.cut(CutCollectives), 0.12, 0.20, fittedSome)
	}
	if d := a.Serving; d != nil {
		fittedAll := ofPublished(fittedAll, d.Rows == StoredLeftOut().Rows)
		add("serving TPOT", d.metric(MetricTPOT), 0.07, 0.12, fittedAll, servingLeftOut(d, func(g *Group) *Errors { return &g.Errors })...)
		add("serving TTFT", d.metric(MetricTTFT), 0.18, 0.30, fittedAll, servingLeftOut(d, func(g *Group) *Errors { return g.TTFT })...)
	}
	for _, r := range a.Requests {
		for _, x := range []struct {
			what, metric string
			of           func(s *Spread) float64
			most         float64
		}{
			{"mean TPOT", MetricTPOT, func(s *Spread) float64 { return s.Mean }, 0.03},
			{"mean TTFT", MetricTTFT, func(s *Spread) float64 { return s.Mean }, 0.12},
			{"p99 TTFT", MetricTTFT, func(s *Spread) float64 { return s.P99 }, 0.15},
		} {
			if e := r.metric(x.metric); e != nil && e.Spread != nil && e.N > 0 {
				list = append(list, Target{What: x.what + " of " + r.Run, N: e.N, Median: x.of(e.Spread), TargetMedian: x.most,
					Fitted: ofPublished(fittedAll, slices.Contains(publishedRequests, r.Run))})
			}
		}
	}
	if d := a.Training; d != nil {
		fittedAll := ofPublished(fittedAll, d.Rows == publishedTraining)
		add("training tokens/s, "+CutDense, d.cut(CutDense), 0.05, 0.08, fittedAll, trainingLeftOut(d, CutDense)...)
		add("training tokens/s, "+CutMoE, d.cut(CutMoE), 0.12, 0.18, fittedAll, trainingLeftOut(d, "moe")...)
		add("training tokens/s, all", d.metric(MetricThroughput), 0.09, 0.14, fittedAll, trainingLeftOut(d, "")...)
		add("training memory", d.metric(MetricMemory), 0.05, 0.08, fittedNone)
	}
	return list
}

// trainingLeftOut are the errors of runs left out, of the models of one kind; "" of all.
func trainingLeftOut(d *Document, ffn string) (list []TargetLeftOut) {
	for i := range d.LeftOut {
		if g := &d.LeftOut[i]; g.Key["which"] == "each" && g.Key["ffn"] == ffn {
			list = append(list, TargetLeftOut{g.Key["left_out"], g.N, g.MedianAPE, g.MAPE})
		}
	}
	return list
}

// servingLeftOut are the stored errors of serving runs left out, where the document is of
// the runs that they are of.
func servingLeftOut(d *Document, of func(*Group) *Errors) (list []TargetLeftOut) {
	s := StoredLeftOut()
	if s.Rows != d.Rows {
		return nil // a table of the user's
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		if e := of(g); g.Key["which"] == "each" && e != nil {
			list = append(list, TargetLeftOut{g.Key["left_out"], e.N, e.MedianAPE, e.MAPE})
		}
	}
	return list
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
