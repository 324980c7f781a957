package infer_test

import (
	"testing"

	"github.com/ridgeline/ridgeline/internal/infer"
	"github.com/ridgeline/ridgeline/internal/plan"
)

func BenchmarkStep(b *testing.B) {
	e := mustEngine(b, "deepseek-r1", "h200x8", plan.Serving{TP: 8}, nil)
	batch := infer.Batch{Decode: 100, DecodeContext: 100 * 2000, Prefill: 700, PrefillPairs: 700 * 900, Prompts: 1}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		batch.Decode, batch.DecodeContext = 1+i%256, int64(1+i%256)*(1500+int64(i%1000))
		e.Step(&batch)
	}
}

func BenchmarkNewAndSteady(b *testing.B) {
	s := setup(b, "deepseek-r1", "h200x8", plan.Serving{TP: 8})
	e, err := infer.New(s)
	if err != nil {
		b.Fatal(err)
	}
	s.Machine = e.Machine()
	for b.Loop() {
		e, err := infer.New(s)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := infer.Steady(e, &infer.Load{ISL: 4096, OSL: 1024, Concurrency: 64}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSteady(b *testing.B) {
	e := mustEngine(b, "deepseek-r1", "h200x8", plan.Serving{TP: 8}, nil)
	for i := 0; b.Loop(); i++ {
		if _, err := infer.Steady(e, &infer.Load{ISL: 4096, OSL: 1024, Concurrency: int64(1 + i%256)}); err != nil {
			b.Fatal(err)
		}
	}
}
