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

// BenchmarkAlone answers for one named plan, as a slider of the page asks; the
// page promises an answer in 100 ms.
func BenchmarkAlone(b *testing.B) {
	m, err := catalog.Model("deepseek-v3")
	if err != nil {
		b.Fatal(err)
	}
	c, err := catalog.Cluster("h800x2048")
	if err != nil {
		b.Fatal(err)
	}
	f, err := plan.Parse("tp=1,pp=8,vpp=1,dp=256,cp=1,ep=64,etp=1,zero=1,schedule=dualpipe-v,mbs=1,recompute=selective,sp=0,cpcomm=ring,overlap=all,offload=none,tuning=full,attention=flash")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r := &TrainRequest{Model: m, Cluster: c, GlobalBatch: 15360, Seq: 4096, Precision: plan.Precisions["fp8"], Fixed: f, Alone: true}
		if _, err := Train(context.Background(), r); err != nil {
			b.Fatal(err)
		}
	}
}
