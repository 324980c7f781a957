package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/compare"
	"github.com/ridgeline/ridgeline/internal/plan"
	"github.com/ridgeline/ridgeline/internal/train"
)

// The page marks a p99 of as many requests as the comparison leaves without an interval.
func TestPageMarksTheSameQuantiles(t *testing.T) {
	b, err := os.ReadFile("../../web/src/measured/runs.ts")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("leastOf: Record<string, number> = { p99: %d }", compare.Least("p99")); !strings.Contains(string(b), want) {
		t.Errorf("the page lacks %s", want)
	}
}

// count is that of layers in a row's name.
var count = regexp.MustCompile(` x \d+$`)

// Every operation and layer that the roofline can name, every attention and every cause of an illegal
// layout has its words in Vietnamese.
func TestNamesAreTranslated(t *testing.T) {
	b, err := os.ReadFile("../../web/src/i18n/names.vi.json")
	if err != nil {
		t.Fatal(err)
	}
	var words map[string]string
	if err := json.Unmarshal(b, &words); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.NamedCluster("h100x64")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for c := plan.Legal + 1; c < plan.NumCauses; c++ {
		seen[c.String()] = true
	}
	for _, m := range catalog.Models() {
		e, err := train.NewEvaluator(plan.NewJob(m.Model, int(c.GPUs), int(c.Node.GPUs), 64, 4096, len(m.Model.MTP)), c, 0)
		if err != nil {
			continue // no model to train
		}
		for _, text := range []string{"tp=1,pp=1,cp=1,ep=1,mbs=1", "tp=2,pp=2,cp=2,dp=8,ep=2,etp=1,mbs=1,sp=1", "tp=2,pp=1,cp=2,ep=4,etp=2,mbs=1,cpcomm=a2a,zero=3,recompute=full", "fsdp"} {
			f, err := plan.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			p := f.Plan
			for _, n := range []*int{&p.TP, &p.PP, &p.CP, &p.EP, &p.ETP, &p.VPP, &p.MicroBatch} {
				*n = max(*n, 1)
			}
			p.DP = 64 / (p.TP * p.PP * p.CP)
			for _, r := range e.Explain(&p) {
				seen[count.ReplaceAllString(r.Layer, "")], seen[r.Op.Name] = true, true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if words[name] == "" {
			t.Errorf("%q", name)
		}
		delete(words, name)
	}
	for name := range words {
		t.Errorf("%q is no name that any model has", name)
	}
}
