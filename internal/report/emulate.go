package report

import (
	"fmt"
	"time"

	"github.com/ridgeline/ridgeline/internal/emulate"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// EmulateDoc is what a server did until it was told to stop.
type EmulateDoc struct {
	Model    string            `json:"model"`
	Requests EmulateRequests   `json:"requests"`
	Tokens   EmulateTokens     `json:"tokens"`
	Chunks   int64             `json:"chunks"`
	Lag      *EmulateLag       `json:"lag_ms"`
	Engine   EmulatePreemption `json:"engine"`
}

// EmulateRequests are counts by what became of them.
type EmulateRequests struct {
	Received  int `json:"received"`
	Done      int `json:"done"`
	Rejected  int `json:"rejected"`
	Faulted   int `json:"faulted"`
	Cancelled int `json:"cancelled"`
}

// EmulateTokens are the simulated engine's.
type EmulateTokens struct {
	Prompt    int64 `json:"prompt_tokens"`
	Cached    int64 `json:"cached_tokens"`
	Generated int64 `json:"generated_tokens"`
}

// EmulateLag is from a token's simulated time to its chunk's being written, ms.
type EmulateLag struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// EmulatePreemption is how the engine went.
type EmulatePreemption struct {
	Steps     int64 `json:"steps"`
	Preempted int64 `json:"preempted"`
}

// NewEmulateDoc sums a server up for programs.
func NewEmulateDoc(model string, s *emulate.Summary) *EmulateDoc {
	d := &EmulateDoc{Model: model, Chunks: s.Chunks, Tokens: EmulateTokens{Prompt: s.Engine.Queried, Cached: s.Engine.Cached, Generated: s.Engine.Output},
		Engine: EmulatePreemption{Steps: s.Engine.Steps, Preempted: s.Engine.Preempted}}
	d.Requests = EmulateRequests{Done: s.Outcomes[emulate.Done], Rejected: s.Outcomes[emulate.Rejected], Faulted: s.Outcomes[emulate.Faulted], Cancelled: s.Outcomes[emulate.Cancelled]}
	for _, n := range s.Outcomes {
		d.Requests.Received += n
	}
	if s.Chunks > 0 {
		ms := func(t time.Duration) float64 { return t.Seconds() * 1e3 }
		d.Lag = &EmulateLag{P50: ms(s.LagP50), P99: ms(s.LagP99)}
	}
	return d
}

// Emulate says what a server did.
func Emulate(p *Page, model string, s *emulate.Summary) {
	d := NewEmulateDoc(model, s)
	p.Heading("%s emulated", model)
	p.Facts([2]string{"requests", fmt.Sprintf("%s: %s answered, %s rejected, %s failed on demand, %s cancelled", Grouped(int64(d.Requests.Received)),
		Grouped(int64(d.Requests.Done)), Grouped(int64(d.Requests.Rejected)), Grouped(int64(d.Requests.Faulted)), Grouped(int64(d.Requests.Cancelled)))},
		[2]string{"tokens", fmt.Sprintf("%s of prompts, %s of them found cached; %s generated in %s steps, %s preemptions", Grouped(d.Tokens.Prompt),
			Grouped(d.Tokens.Cached), Grouped(d.Tokens.Generated), Grouped(d.Engine.Steps), Grouped(d.Engine.Preempted))})
	if d.Lag != nil {
		p.Facts([2]string{"lag", fmt.Sprintf("chunks left %s after their time, p99 %s: what this machine adds to the engine's times",
			unit.FormatStep(unit.Seconds(s.LagP50.Seconds())), unit.FormatStep(unit.Seconds(s.LagP99.Seconds())))})
	}
}
