package infer

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseSpeculation(t *testing.T) {
	for text, want := range map[string]*Speculation{
		"none":                     {},
		"mtp:1:0.87":               {Drafter: MTP, Drafts: 1, Accept: []float64{0.87}},
		"mtp:2:85%":                {Drafter: MTP, Drafts: 2, Accept: []float64{0.85, 0.85}},
		"mtp:3:0.9/0.7/0.4":        {Drafter: MTP, Drafts: 3, Accept: []float64{0.9, 0.7, 0.4}},
		"draft:llama-3.2-1b:1:0.8": {Drafter: DraftModel, Model: "llama-3.2-1b", Drafts: 1, Accept: []float64{0.8}},
	} {
		got, err := ParseSpeculation(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v %s", text, err, diff)
		}
		if err := got.Check(); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestBadSpeculation(t *testing.T) {
	for text, says := range map[string]string{
		"":                    "is not understood",
		"eagle:3":             "is not understood",
		"none:1":              "is not understood",
		"mtp":                 "whole number from 1 to 16",
		"mtp:0":               "whole number from 1 to 16",
		"mtp:-1":              "whole number from 1 to 16",
		"mtp:17":              "whole number from 1 to 16",
		"mtp:1.5":             "whole number from 1 to 16",
		"mtp:1:1.2":           "above 1",
		"mtp:1:-0.5":          "is negative",
		"mtp:1:.5":            "acceptance",
		"mtp:1:NaN":           "acceptance",
		"mtp:2:0.9/0.8/0.7":   "3 acceptances for 2 drafts",
		"mtp:1:0.9:3":         "too many parts",
		"mtp:6":               "no acceptance is known",
		"draft:llama":         "is not understood",
		"draft::2:0.8":        "is not understood",
		"draft:llama:2":       "no acceptance is known",
		"draft:llama:2:0.8:1": "too many parts",
	} {
		_, err := ParseSpeculation(text)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, want one line with %q", text, err, says)
		}
	}
	for _, s := range []Speculation{
		{Drafts: 1, Accept: []float64{0.5}}, {Drafter: MTP}, {Drafter: MTP, Drafts: 17}, {Drafter: MTP, Drafts: 2, Accept: []float64{1}},
		{Drafter: DraftModel, Drafts: 1, Accept: []float64{1}}, {Drafter: MTP, Drafts: 1, Accept: []float64{math.NaN()}},
		{Drafter: MTP, Drafts: 1, Accept: []float64{1.01}}, {Drafter: MTP, Drafts: 1, Accept: []float64{-0.1}},
	} {
		if s.Check() == nil {
			t.Errorf("%+v passed", s)
		}
	}
}

func FuzzParseSpeculation(f *testing.F) {
	for _, s := range []string{"none", "mtp:1:0.87", "mtp:3:0.9/0.7/0.4", "mtp:5", "draft:a/b:2:80%", "mtp:1:1e99", "::::", "draft:x:1:\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSpeculation(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("%q: more than one line: %q", text, err)
			}
			return
		}
		if err := s.Check(); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if n := s.Tokens(); n < 1 || n > float64(s.Drafts+1) {
			t.Errorf("%q: %g tokens per step", text, n)
		}
		again, err := ParseSpeculation(s.String())
		if diff := cmp.Diff(s, again); err != nil || diff != "" {
			t.Errorf("%q printed %q: %v %s", text, s, err, diff)
		}
	})
}

// Tokens per step of 1 to 5 drafts as measured on B200 (modelling notes, section
// 6), from the acceptance per position that follows from them.
func TestMeasuredAcceptance(t *testing.T) {
	for i, want := range []float64{1.92, 2.58, 2.82, 2.99, 3.01} {
		s, err := ParseSpeculation("mtp:" + string(rune('1'+i)))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Tokens(); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d drafts: %g tokens per step, measured %g", i+1, got, want)
		}
	}
	if got := (*Speculation)(nil).Tokens(); got != 1 {
		t.Errorf("without speculation %g tokens per step", got)
	}
}

func speculative(text string) *Speculative {
	s, err := ParseSpeculation(text)
	if err != nil {
		panic(err)
	}
	return &Speculative{Target: decoder(), Draft: module(), Spec: s}
}

// Speculation at acceptance 0 is a loss everywhere, at 1 never worse than at less,
// and drafting nothing changes nothing.
func TestSpeculationProperties(t *testing.T) {
	sizes := []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512}
	never, always, some := SpecCurve(speculative("mtp:2:0"), 1000, sizes), SpecCurve(speculative("mtp:2:1"), 1000, sizes), SpecCurve(speculative("mtp:2:0.6"), 1000, sizes)
	for i := range sizes {
		if never[i].Speedup >= 1 {
			t.Errorf("batch %d: speedup %g though no draft holds", sizes[i], never[i].Speedup)
		}
		if !(never[i].Speedup < some[i].Speedup && some[i].Speedup < always[i].Speedup) {
			t.Errorf("batch %d: speedups %g, %g, %g at acceptance 0, 0.6, 1", sizes[i], never[i].Speedup, some[i].Speedup, always[i].Speedup)
		}
		if always[i].Speedup > 3 || always[i].Cost < 1 {
			t.Errorf("batch %d: speedup %g at cost %g from two drafts", sizes[i], always[i].Speedup, always[i].Cost)
		}
	}
	for _, s := range []*Speculative{speculative("none"), speculative("mtp:3"), speculative("draft:x:4:0.7")} {
		for _, b := range []*Batch{batch(1, 10), batch(300, 5000), {Prefill: 4000, PrefillPairs: 8e6, Prompts: 1}, {Decode: 8, DecodeContext: 800, Prefill: 100, PrefillPairs: 5000, Prompts: 1}} {
			plain, step := s.Target.Step(b), s.Step(b)
			if !(step.Floor <= step.Total && step.Total <= step.Upper) {
				t.Errorf("%v: bounds %v", s.Spec, step)
			}
			sum := 0.0
			for _, p := range step.Parts {
				sum += float64(p)
			}
			if math.Abs(sum/float64(step.Total)-1) > 1e-9 {
				t.Errorf("%v: parts make %g of %g", s.Spec, sum, step.Total)
			}
			if same := step == plain; same != (s.Spec.Drafts == 0) {
				t.Errorf("%v: %v against %v", s.Spec, step, plain)
			}
		}
	}
}

// One expert touched more per drafted token until all are: the gain fades with the
// batch and turns into a loss where compute binds.
func TestSpeculationFades(t *testing.T) {
	v := Verdict(SpecCurve(speculative("mtp:1:0.87"), 1000, []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048}))
	if v.Best.Batch != 1 || v.Best.Speedup < 1.5 || v.Fades == 0 || v.Worst.Speedup >= v.Best.Speedup || v.Worst.Grew != Experts && v.Worst.Grew != Dense {
		t.Errorf("%+v", v)
	}
	if v := Verdict(SpecCurve(speculative("mtp:4:0.2"), 1000, []int{1, 64, 512})); v.Loses == 0 {
		t.Errorf("four drafts that seldom hold never lose: %+v", v)
	}
	if v := Verdict(nil); v != (SpecVerdict{}) {
		t.Errorf("no curve: %+v", v)
	}
}

// First tokens come later: prompts pass the drafter too.
func TestSpeculationDelaysPrompts(t *testing.T) {
	s := speculative("mtp:1")
	b := &Batch{Prefill: 8192, PrefillPairs: 3e7, Prompts: 1}
	if plain, spec := s.Target.Step(b), s.Step(b); spec.Total <= plain.Total || spec.Total > 1.1*plain.Total {
		t.Errorf("prompt of %g s becomes %g s", plain.Total, spec.Total)
	}
}

func TestSpeculativeAllocatesNothing(t *testing.T) {
	s, b := speculative("mtp:3"), batch(64, 1000)
	if n := testing.AllocsPerRun(100, func() { s.Step(b) }); n != 0 {
		t.Errorf("%g allocations per step", n)
	}
}
