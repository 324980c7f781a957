package report

import (
	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// TimelineDoc is a plan's step in time and space; times in seconds from the first
// start, memory in bytes per GPU.
type TimelineDoc struct {
	Model      string             `json:"model"`
	Cluster    string             `json:"cluster"`
	Plan       map[string]any     `json:"plan"`
	Fits       bool               `json:"fits"`
	Step       float64            `json:"step_seconds"`
	Pipeline   float64            `json:"pipeline_seconds"`
	BubbleRate float64            `json:"bubble_rate"`
	Schedule   string             `json:"schedule"`
	Limit      int64              `json:"memory_limit_bytes"`
	Stages     []StageDoc         `json:"stages"`
	Sends      []SendDoc          `json:"sends"`
	Links      SOLDoc             `json:"links"`
	Exposed    map[string]float64 `json:"exposed"`
}

// StageDoc is one pipeline rank: its passes, the close of its step and its memory.
type StageDoc struct {
	Stage  int              `json:"stage"`
	Passes []TimedPassDoc   `json:"passes"`
	Close  CloseDoc         `json:"close"`
	Memory map[string]int64 `json:"memory"`
}

// TimedPassDoc is a pass with what it waits for inside: seconds by kind, kernels
// are the rest of its length.
type TimedPassDoc struct {
	PassDoc
	Waits map[string]float64 `json:"waits,omitempty"`
}

// CloseDoc is what follows the passes: data-parallel collectives that nothing
// hides, then the optimizer.
type CloseDoc struct {
	Collectives float64 `json:"collectives_seconds"`
	Optimizer   float64 `json:"optimizer_seconds"`
}

// SendDoc is a message between two pipeline ranks.
type SendDoc struct {
	From       int     `json:"from"`
	To         int     `json:"to"`
	MicroBatch int     `json:"microbatch"`
	Chunk      int     `json:"chunk"`
	Direction  string  `json:"direction"` // forward or backward
	Link       string  `json:"link"`      // nvlink or network
	Start      float64 `json:"start"`
	End        float64 `json:"end"`
}

// NewTimelineDoc builds the document.
func NewTimelineDoc(a *api.TrainAnswer, m *train.Moments) TimelineDoc {
	r := a.Best
	d := TimelineDoc{Model: a.Request.Model.Name, Cluster: a.Request.Cluster.Name, Plan: planKeys(&r.Plan), Fits: r.Fits, Step: float64(r.Step),
		Pipeline: float64(m.Layout.Step), BubbleRate: m.Layout.BubbleRate(), Schedule: m.Layout.Kind.String(), Limit: int64(r.Limit),
		Stages: []StageDoc{}, Sends: []SendDoc{}, Links: solDoc(&r.Ceilings), Exposed: exposedDoc(r)}
	passes := NewScheduleDoc(m.Layout).Stages
	for i := range m.Ranks {
		rank := &m.Ranks[i]
		s := StageDoc{Stage: i, Passes: []TimedPassDoc{}, Close: CloseDoc{float64(rank.Wait), float64(rank.Update)}, Memory: memoryDoc(&rank.Memory)}
		for k := range passes[i] {
			s.Passes = append(s.Passes, TimedPassDoc{passes[i][k], waitsDoc(&m.Waits[i][k])})
		}
		d.Stages = append(d.Stages, s)
	}
	for i := range m.Sends {
		d.Sends = append(d.Sends, sendDoc(&m.Sends[i]))
	}
	return d
}

func sendDoc(s *train.Send) SendDoc {
	d := SendDoc{From: s.From, To: s.To, MicroBatch: s.MicroBatch, Chunk: s.Chunk, Direction: "forward", Link: "nvlink", Start: float64(s.Start), End: float64(s.End)}
	if s.Backward {
		d.Direction = "backward"
	}
	if s.Network {
		d.Link = "network"
	}
	return d
}

// waitsDoc leaves out what is not waited for.
func waitsDoc(w *[train.NumWaits]unit.Seconds) map[string]float64 {
	var m map[string]float64
	for i := range train.NumWaits {
		if w[i] > 0 {
			if m == nil {
				m = map[string]float64{}
			}
			m[i.String()] = float64(w[i])
		}
	}
	return m
}

// exposedDoc is what a step waits for, by kind.
func exposedDoc(r *train.Result) map[string]float64 {
	m := map[string]float64{}
	for w := range train.NumWaits {
		m[w.String()] = float64(r.Waits[w])
	}
	return m
}
