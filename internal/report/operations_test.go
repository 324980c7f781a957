package report

import (
	"testing"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/train"
	"github.com/ridgeline/ridgeline/internal/unit"
	"github.com/ridgeline/ridgeline/internal/work"
)

// op is a row of 2 TFLOP and 1 GB that is estimated at t seconds.
func op(layer, name, part string, phase work.Phase, t unit.Seconds) train.Row {
	return train.Row{Layer: layer, Times: 2, Op: work.Op{Name: name, Part: part, Phase: phase, FLOPs: 2e12, Bytes: 1e9, Count: 1},
		Lower: t / 2, Estimate: t, Upper: 2 * t, Bound: "compute"}
}

func TestOperationsGroupByPhaseWithSums(t *testing.T) {
	gather := op("dense layer x 2", "input all-gather", "attention", work.Forward, 1)
	gather.Algorithm, gather.Bound, gather.FLOPs, gather.Bytes = "ring", "nvlink", 0, 0
	gather.Comm.Bytes = 5e6
	rows := []train.Row{
		op("embedding", "lookup", "embedding", work.Forward, 1),
		op("dense layer x 2", "up", "shared expert", work.Forward, 2), op("dense layer x 2", "up", "routed experts", work.Input, 3), gather,
	}
	a := &api.TrainAnswer{Request: request(t, "llama-3.1-8b", "h100x8", "bf16", "", 64, 4096), Best: result()}
	got := page(t, 100, func(p *Page) { Operations(p, a, rows) })
	fits(t, got, 100)
	wants(t, got, "One rank and one micro-batch of 4,096 tokens; each",
		"forward 2.000 T 500.0 ms 1.000 s 2.000 s lookup 2.000 T 1.000 GB 2000 500.0 ms 1.000 s 2.000 s compute",
		"dense layer x 2 operation",
		"forward 2.000 T 1.500 s 3.000 s 6.000 s shared up 2.000 T 1.000 GB 2000 1.000 s 2.000 s 4.000 s compute",
		"input all-gather 5.000 MB 500.0 ms 1.000 s 2.000 s nvlink", "Algorithms: input all-gather by ring.",
		"experts' up 2.000 T", "all phases 4.000 T 3.000 s 6.000 s 12.00 s",
		"120 micro-batches per step over 16 pipeline ranks, bubble 2.000 s", "gradient scatter and weight gather (0 s exposed), optimizer (500.0 ms)")
}

// Two kinds of layer may share a name: the first operation coming again starts
// the second.
func TestLayersOfOneNameStayApart(t *testing.T) {
	var rows []train.Row
	for range 2 {
		rows = append(rows, op("moe layer x 12", "attention norm", "attention", work.Forward, 1),
			op("moe layer x 12", "attention norm", "attention", work.Input, 1), op("moe layer x 12", "core", "attention", work.Forward, 1))
	}
	rows = append(rows, op("head", "lm head", "head", work.Forward, 1))
	got := layersOf(rows)
	if len(got) != 3 || len(got[0]) != 3 || len(got[1]) != 3 || len(got[2]) != 1 {
		t.Errorf("%d layers of 3", len(got))
	}
	if layersOf(nil) != nil {
		t.Error("no rows have layers")
	}
}
