package api

import (
	"context"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// BenchmarkDeepSeekV3 answers the main question whole: search, alternatives,
// precisions and break-even values.
func BenchmarkDeepSeekV3(b *testing.B) {
	m, err := catalog.Model("deepseek-v3")
	if err != nil {
		b.Fatal(err)
	}
	c, err := catalog.Cluster("h800x2048")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r := &TrainRequest{Model: m, Cluster: c, GlobalBatch: 15360, Seq: 4096, Precision: plan.Precisions["fp8"]}
		if _, err := Train(context.Background(), r); err != nil {
			b.Fatal(err)
		}
	}
}
