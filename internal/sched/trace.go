package sched

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/ridgeline/ridgeline/internal/unit"
)

// event is one entry of the Chrome trace format ("Trace Event Format", also read
// by Perfetto): a complete event X, or metadata M. Times in microseconds.
type event struct {
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Phase string         `json:"ph"`
	TS    float64        `json:"ts"`
	Dur   float64        `json:"dur"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	Args  map[string]any `json:"args,omitempty"`
}

// Trace writes a layout as a Chrome trace: one row per rank, one event per pass,
// named F3, B3, W3 or F8B2, with chunk and micro-batch as arguments. It fails
// when w does.
func Trace(l *Layout, w io.Writer) error {
	out := bufio.NewWriter(w)
	out.WriteString(`{"displayTimeUnit":"ms","traceEvents":[`)
	comma := ""
	put := func(e event) error {
		b, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("trace of %s: %w", e.Name, err)
		}
		out.WriteString(comma + "\n")
		out.Write(b)
		comma = ","
		return nil
	}
	if err := put(event{Name: "process_name", Phase: "M", Args: map[string]any{"name": "pipeline " + l.Kind.String()}}); err != nil {
		return err
	}
	for r, list := range l.Ranks {
		name := map[string]any{"name": fmt.Sprintf("rank %d", r)}
		if err := put(event{Name: "thread_name", Phase: "M", TID: r, Args: name}); err != nil {
			return err
		}
		for _, x := range list {
			if err := put(passEvent(x, r)); err != nil {
				return err
			}
		}
	}
	out.WriteString("\n]}\n")
	return out.Flush() // remembers the first failed write
}

func passEvent(x Placed, rank int) event {
	args := map[string]any{"chunk": x.Chunk, "microbatch": x.MicroBatch}
	if x.Pass == FB {
		args["backward_chunk"], args["backward_microbatch"] = x.BackChunk, x.BackMicroBatch
	}
	name := fmt.Sprintf("%s%d", x.Pass, x.MicroBatch)
	if x.Pass == FB {
		name = fmt.Sprintf("%s%d%s%d", F, x.MicroBatch, B, x.BackMicroBatch)
	}
	return event{Name: name, Cat: x.Pass.String(), Phase: "X", TS: micros(x.Start), Dur: micros(x.End - x.Start), TID: rank, Args: args}
}

// micros is microseconds in whole nanoseconds, so that sums of equal passes print short.
func micros(t unit.Seconds) float64 { return math.Round(float64(t)*1e9) / 1e3 }
