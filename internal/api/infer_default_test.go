package api

import (
	"context"
	"slices"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/hw"
	"github.com/ridgeline/ridgeline/internal/unit"
)

// Loads that nobody names grow with what the cluster holds: none holds the last one.
func TestDefaultLoadsGrow(t *testing.T) {
	for most, want := range map[int64]int{0: 1 << 10, 1 << 10: 1 << 11, 1500: 1 << 11, 19584: 1 << 15, 1 << 40: 1 << 16} {
		if list := loadsUpTo(most); list[0] != 1 || list[len(list)-1] != want || !slices.IsSorted(list) {
			t.Errorf("caches of %d requests: loads %v, want up to %d", most, list, want)
		}
	}
	r := service(t, "tp=1,dp=8,ep=8")
	r.Concurrency = nil
	a, err := Infer(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	points := a.Outcomes[0].Points
	if last := points[len(points)-1]; !last.Queued || r.Concurrency != nil {
		t.Errorf("the last load is %d of %d that fit, queued %t; the request was given %v", last.Concurrency, last.Most, last.Queued, r.Concurrency)
	}
	if warns(a, "edge of --concurrency") {
		t.Errorf("warnings %q", a.Warnings)
	}
}

// A narrow cache that makes steps slower is said, and none that makes them faster.
func TestSlowerCacheIsSaid(t *testing.T) {
	c, err := catalog.Cluster("h20x16")
	if err != nil {
		t.Fatal(err)
	}
	for format, want := range map[unit.Format]bool{unit.FP8: true, unit.BF16: false} {
		r := service(t, "tp=16", 32)
		r.Clusters, r.KV, r.Engine = []*hw.Cluster{c}, []unit.Format{format}, "sglang"
		if a := answerOf(t, r); warns(a, "makes a decode step") != want {
			t.Errorf("%s: warnings %q", format, a.Warnings)
		}
	}
}
