package api

import (
	"context"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/plan"
)

// Where nothing fits the plan called nearest lacks least: optimizer states in host
// memory bring it nearer unless the question fixes where they are.
func TestNearestMayOffload(t *testing.T) {
	nearest := func(text string) *TrainAnswer {
		m, err := catalog.Model("llama-3.1-405b")
		if err != nil {
			t.Fatal(err)
		}
		c, err := catalog.Cluster("h100x8")
		if err != nil {
			t.Fatal(err)
		}
		f, err := plan.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		a, _, err := Narrow(context.Background(), &TrainRequest{Model: m, Cluster: c, GlobalBatch: 16, Seq: 4096, Precision: plan.Precisions["bf16"], Fixed: f})
		if err != nil {
			t.Fatal(err)
		}
		if a.Best.Fits {
			t.Fatalf("%s: 405 B parameters fit 8 GPUs", text)
		}
		return a
	}
	open, host, device := nearest(""), nearest("offload=optimizer"), nearest("offload=none")
	if open.Best.Memory.Total() != host.Best.Memory.Total() || !open.Best.Plan.OffloadOptim {
		t.Errorf("open: %v, offloaded: %v", open.Best.Memory.Total(), host.Best.Memory.Total())
	}
	if device.Best.Plan.OffloadOptim || device.Best.Memory.Total() <= host.Best.Memory.Total() {
		t.Errorf("on the device %v, offloaded %v", device.Best.Memory.Total(), host.Best.Memory.Total())
	}
	if len(open.Warnings) != 1 || open.Warnings[0].Code != "states_on_host" {
		t.Errorf("warnings %v", open.Warnings.Texts())
	}
}
