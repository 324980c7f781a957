package validate

// Target is an error to stay below, beside what is reached; fractions. A zero target is none.
type Target struct {
	What         string  `json:"what"`
	N            int     `json:"n"`
	Median       float64 `json:"median_ape"`
	Mean         float64 `json:"mape"`
	TargetMedian float64 `json:"target_median_ape"`
	TargetMean   float64 `json:"target_mape,omitempty"`
}

// Met tells whether neither target is missed.
func (t *Target) Met() bool {
	return t.Median <= t.TargetMedian && (t.TargetMean == 0 || t.Mean <= t.TargetMean)
}

// targets puts what is reached beside what should be, in the order of the kinds.
func targets(a *Accuracy) []Target {
	var list []Target
	add := func(what string, e *Errors, median, mean float64) {
		if e != nil && e.N > 0 {
			list = append(list, Target{what, e.N, e.MedianAPE, e.MAPE, median, mean})
		}
	}
	if d := a.Operators; d != nil {
		add("GEMM tables", d.cut(CutGEMM), 0.07, 0.12)
		add("MoE tables", d.cut(CutExperts), 0.12, 0.20)
		add("attention and MLA tables", d.cut(CutAttention), 0.10, 0.16)
		add("collectives in one node", d.cut(CutCollectives), 0.12, 0.20)
	}
	if d := a.Serving; d != nil {
		add("serving TPOT", d.metric(MetricTPOT), 0.07, 0.12)
		add("serving TTFT", d.metric(MetricTTFT), 0.18, 0.30)
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
				list = append(list, Target{What: x.what + " of " + r.Run, N: e.N, Median: x.of(e.Spread), TargetMedian: x.most})
			}
		}
	}
	if d := a.Training; d != nil {
		add("training tokens/s, "+CutDense, d.cut(CutDense), 0.05, 0.08)
		add("training tokens/s, "+CutMoE, d.cut(CutMoE), 0.12, 0.18)
		add("training tokens/s, all", d.metric(MetricThroughput), 0.09, 0.14)
		add("training memory", d.metric(MetricMemory), 0.05, 0.08)
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
