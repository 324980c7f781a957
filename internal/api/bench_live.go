package api

import "github.com/ridgeline/ridgeline/internal/bench"

// BenchSample is the state of an evaluation under way.
type BenchSample struct {
	Stage    int     `json:"stage"`
	Stages   int     `json:"stages" doc:"0 = not known, as in a search"`
	Load     string  `json:"load"`
	Level    int     `json:"concurrency" doc:"of a closed loop, else 0"`
	Asked    float64 `json:"rate" doc:"requests/s of an open loop, else 0"`
	Seconds  float64 `json:"t" doc:"since the stage began"`
	Total    int     `json:"total" doc:"requests of the stage, 0 = bounded by time"`
	Sent     int     `json:"sent"`
	OK       int     `json:"ok"`
	Failed   int     `json:"failed"`
	InFlight int     `json:"in_flight"`
	Rate     float64 `json:"output_tokens_per_second"`
}

// SampleOf is the state that an event tells of.
func SampleOf(x *bench.Event) BenchSample {
	s := BenchSample{Stage: x.Stage, Stages: x.Stages, Load: x.Level.String(), Seconds: x.Elapsed.Seconds(), Total: x.Total,
		Sent: x.Sent, OK: x.OK, Failed: x.Failed, InFlight: x.InFlight, Rate: x.TokenRate}
	switch x.Level.Mode {
	case bench.Closed:
		s.Level = x.Level.Concurrency
	case bench.Open:
		s.Asked = x.Level.Arrival.Rate
	}
	return s
}
