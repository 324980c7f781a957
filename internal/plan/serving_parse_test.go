package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ridgeline/ridgeline/internal/model"
)

func TestServingTexts(t *testing.T) {
	one := Serving{TP: 1, PP: 1, DP: 1, EP: 1, DCP: 1, Replicas: 1}
	with := func(change func(*Serving)) Serving { s := one; change(&s); return s }
	for text, want := range map[string]Serving{
		"":                        one,
		"tp=8":                    with(func(s *Serving) { s.TP = 8 }),
		" TP = 8 , ep=8 ":         with(func(s *Serving) { s.TP, s.EP = 8, 8 }),
		"tp=4,pp=2,dp=8,ep=32":    with(func(s *Serving) { s.TP, s.PP, s.DP, s.EP = 4, 2, 8, 32 }),
		"tp=16,dcp=4,replicas=12": with(func(s *Serving) { s.TP, s.DCP, s.Replicas = 16, 4, 12 }),
	} {
		got, err := ParseServing(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got.Whole.Serving); diff != "" || got.Disaggregated() != nil {
			t.Errorf("%q: %s", text, diff)
		}
	}
	got, err := ParseServing("tp=8,replicas=2")
	if err != nil || !got.Whole.Has(KeyTP) || !got.Whole.Has(KeyReplicas) || got.Whole.Has(KeyEP) {
		t.Errorf("given keys of tp=8,replicas=2: %+v, %v", got, err)
	}
}

func TestDisaggregatedText(t *testing.T) {
	const text = "prefill:tp=4,ep=4,workers=2;decode:tp=1,dp=16,ep=16,workers=3"
	got, err := ParseServing(text)
	if err != nil {
		t.Fatal(err)
	}
	d := got.Disaggregated()
	if d == nil || got.Whole != nil || d.Prefill.TP != 4 || d.PrefillWorkers != 2 || d.Decode.GPUs() != 16 || d.DecodeWorkers != 3 || d.Total() != 56 {
		t.Fatalf("%s: %+v", text, d)
	}
	if d.String() != text {
		t.Errorf("printed %q, want %q", d.String(), text)
	}
}

func TestBadServingTexts(t *testing.T) {
	for text, says := range map[string]string{
		"tp":                          "tp=\"\" is not a whole number",
		"tp=0":                        "from 1 to",
		"tp=8,tp=4":                   "given twice",
		"tp=8,vpp=2":                  "\"vpp\" is not one of a serving plan",
		"workers=2":                   "\"workers\" is not one",
		"tp=99999999":                 "from 1 to",
		"prefill:tp=4":                "names one role",
		"prefill:tp=4;tp=8":           "has no role",
		"prefill:tp=4;train:tp=8":     "has no role",
		"prefill:tp=4;prefill:tp=8":   "given twice",
		"prefill:replicas=2;decode:":  "\"replicas\" is not one",
		"prefill:tp=4;decode:tp=four": "not a whole number",
	} {
		if _, err := ParseServing(text); err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, want one line with %q", text, err, says)
		}
	}
}

// Layouts that no engine can run, and why.
func TestIllegalServingLayouts(t *testing.T) {
	layer := model.Layer{Attention: model.Attention{Kind: model.GQA, Heads: 64, KVHeads: 8, QKDim: 128, VDim: 128}, FFN: model.FFN{Inner: 28672}}
	dense := &model.Model{Name: "dense", Hidden: 8192, Layers: []model.Layer{layer, layer}}
	routed := layer
	routed.FFN = model.FFN{Experts: 96, TopK: 8, ExpertInner: 1536, SharedInner: 1024}
	moe := &model.Model{Name: "moe", Hidden: 8192, Layers: []model.Layer{routed, routed}}
	for _, row := range []struct {
		m          *model.Model
		text, says string
	}{
		{dense, "tp=8", ""},
		{dense, "tp=64", ""}, // key heads are copied
		{dense, "tp=3", "does not divide the 64 attention heads"},
		{dense, "tp=128", "needs 128 GPUs and the cluster has 64"},
		{dense, "pp=3", "exceeds the 2 layers"},
		{dense, "ep=2", "no routed experts"},
		{dense, "tp=16,dcp=2", ""},
		{dense, "tp=8,dcp=2", "does not divide the 1 copies"},
		{dense, "tp=32,replicas=3", "needs 96 GPUs"},
		{moe, "tp=8,ep=8", ""},
		{moe, "tp=8,ep=16", "does not divide tp x dp = 8"},
		{moe, "dp=64,ep=64", "does not divide the 96 experts"},
		{moe, "tp=32,ep=1", ""},
		{moe, "dp=32,ep=32", ""},
		{moe, "tp=4,dp=10,ep=8", "tp x dp / ep = 5 does not divide the expert ffn size"},
	} {
		p, err := ParseServing(row.text)
		if err != nil {
			t.Fatal(err)
		}
		err = p.Whole.Serving.Check(row.m, 64)
		switch {
		case row.says == "" && err != nil:
			t.Errorf("%s %s: %v", row.m.Name, row.text, err)
		case row.says != "" && (err == nil || !strings.Contains(err.Error(), row.says) || strings.Contains(err.Error(), "\n")):
			t.Errorf("%s %s: error %v, want %q", row.m.Name, row.text, err, row.says)
		}
	}
	bad := Serving{TP: 8, PP: 1, DP: 0, EP: 1, DCP: 1, Replicas: 1}
	if err := bad.Check(dense, 64); err == nil || !strings.Contains(err.Error(), "dp=0") {
		t.Errorf("dp=0: %v", err)
	}
}

func FuzzParseServing(f *testing.F) {
	for _, s := range []string{"tp=8", "tp=4,pp=2,dp=8,ep=32,dcp=2,replicas=3", "prefill:tp=4,workers=2;decode:dp=8,ep=8", "tp=8,redundant=32", ";;", ":", "tp=,", "a:b;c:d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseServing(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") && !strings.Contains(text, "\n") {
				t.Errorf("error of several lines: %v", err)
			}
			return
		}
		printed := ""
		if d := got.Disaggregated(); d != nil {
			printed = d.String()
		} else {
			printed = got.Whole.Serving.String()
		}
		again, err := ParseServing(printed)
		if err != nil {
			t.Fatalf("%q printed as %q: %v", text, printed, err)
		}
		if d := got.Disaggregated(); d != nil {
			if *again.Disaggregated() != *d {
				t.Errorf("%q printed as %q, read as %+v", text, printed, again)
			}
		} else if again.Whole.Serving != got.Whole.Serving {
			t.Errorf("%q printed as %q, read as %+v", text, printed, again.Whole.Serving)
		}
	})
}
