package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/api"
	"github.com/ridgeline/ridgeline/internal/report"
)

// The plan that an answer states fixes every key: sent back it is that plan again,
// whatever else would be faster.
func TestStatedPlansComeBack(t *testing.T) {
	h := serve(t, Options{})
	for _, text := range []string{"zero=3,tp=1,pp=1", "fsdp,shard=8", "tp=8,pp=2,zero=1", "tp=2,cp=2,pp=1,zero=2", "pp=4,vpp=2,zero=1,recompute=full", "tuning=lora,rank=16,tp=1"} {
		first := priced(t, h.URL, text)
		again := priced(t, h.URL, first.Plan)
		if first.Text != again.Text || first.Step != again.Step {
			t.Errorf("%s is %s, sent back %s", text, first.Text, again.Text)
		}
	}
}

// A plan that an answer states for a batch that does not divide over its ranks can
// be asked about again: its timeline is that of the plan.
func TestPaddedPlansComeBack(t *testing.T) {
	h := serve(t, Options{})
	uneven := trainExample.with(example{"global_batch": 250})
	_, _, b := fetch(t, post(t, h.URL+"/api/v1/train", uneven.with(example{"plan": "fsdp", "alone": true})))
	var doc report.TrainDoc
	if err := json.Unmarshal(b, &doc); err != nil || len(doc.Plans) == 0 {
		t.Fatalf("%s: %v", b, err)
	}
	for _, p := range doc.Plans {
		code, _, b := fetch(t, post(t, h.URL+"/api/v1/train/timeline", uneven.with(example{"plan": p.Plan})))
		var moments report.TimelineDoc
		if err := json.Unmarshal(b, &moments); err != nil || code != 200 || moments.Step != p.Step {
			t.Errorf("%s: %d %.200s, want a step of %v", p.Text, code, b, p.Step)
		}
	}
}

// A timeline that would fill memory is refused as a schedule is.
func TestLongTimelinesAreRefused(t *testing.T) {
	h := serve(t, Options{})
	ask := trainExample.with(example{"global_batch": 1000000, "plan": "tp=2,pp=1,zero=1,mbs=1"})
	code, _, b := fetch(t, post(t, h.URL+"/api/v1/train/timeline", ask))
	if code != http.StatusUnprocessableEntity || !strings.Contains(string(b), "give fewer micro-batches") {
		t.Errorf("%d %.200s", code, b)
	}
}

func priced(t *testing.T, url string, plan any) *report.PlanDoc {
	t.Helper()
	_, _, b := fetch(t, post(t, url+"/api/v1/train/price", trainExample.with(example{"plans": []any{plan}, "turn": "network=0.1"})))
	var doc report.PricedDoc
	if err := json.Unmarshal(b, &doc); err != nil || len(doc.Plans) != 1 || doc.Plans[0].Plan == nil {
		t.Fatalf("%s: %v", b, err)
	}
	return doc.Plans[0].Plan
}

// Answers through the API are those of the functions that the command line calls.
func TestAnswersAreTheCommandLines(t *testing.T) {
	h := serve(t, Options{})
	r, _, err := fieldsOfExample(t, planExample).request()
	if err != nil {
		t.Fatal(err)
	}
	a, err := api.WhyNot(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	_, _, b := fetch(t, post(t, h.URL+"/api/v1/train/whynot", planExample))
	var got report.WhyNotDoc
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	want := report.NewWhyNotDoc(a)
	if len(got.Sentences) != 2 || got.Sentences[0] != want.Sentences[0] || got.Sentences[1] != want.Sentences[1] || got.Plan.Step != want.Plan.Step {
		t.Errorf("%v, want %v", got.Sentences, want.Sentences)
	}
}
