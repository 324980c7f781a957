package infer_test

import (
	"os"
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/catalog"
	"github.com/ridgeline/ridgeline/internal/infer"
)

func TestProfiles(t *testing.T) {
	for _, name := range []string{"vllm", "sglang", "trtllm", "VLLM"} {
		p, err := infer.FindProfile(name, "hopper")
		if err != nil || p.Source == "" || p.BatchTokens < 1 {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		if q, err := infer.FindProfile(name, "no such generation"); err != nil || q.Arch != "" {
			t.Errorf("%s on an unknown generation: %+v, %v", name, q, err)
		}
	}
	if _, err := infer.FindProfile("tgi", ""); err == nil || !strings.Contains(err.Error(), "use one of") {
		t.Errorf("unknown engine: %v", err)
	}
}

// A version takes the profile whose bound it lies below, the nearest one; the latest holds
// for versions that nobody stated and for names without numbers.
func TestProfilesOfVersions(t *testing.T) {
	list := []infer.Profile{{Engine: "x", Source: "latest"}, {Engine: "x", Arch: "hopper", Source: "latest hopper"},
		{Engine: "x", Before: "1.1", Source: "old"}, {Engine: "x", Before: "0.9", Arch: "hopper", Source: "oldest hopper"}}
	for _, c := range []struct{ version, arch, want string }{
		{"", "ampere", "latest"}, {"", "hopper", "latest hopper"}, {"1.1", "hopper", "latest hopper"}, {"nightly-dev", "hopper", "latest hopper"},
		{"1.0.0rc3", "ampere", "old"}, {"v1.0.9.post2", "hopper", "old"}, {"0.8", "hopper", "oldest hopper"}, {"0.8", "ampere", "old"}, {"1.10", "ampere", "latest"},
	} {
		p := infer.PickProfile(list, "X", c.version, c.arch)
		if p == nil || p.Source != c.want {
			t.Errorf("%s on %s: %+v, want %s", c.version, c.arch, p, c.want)
		}
	}
	if p := infer.PickProfile(list, "y", "", ""); p != nil {
		t.Errorf("another engine: %+v", p)
	}
	for _, v := range []string{"trtllm 1.0.0rc3", "sglang 0.5.6.post2"} {
		engine, version, _ := strings.Cut(v, " ")
		if p, err := infer.FindProfileOf(engine, version, "hopper"); err != nil || p.Before == "" {
			t.Errorf("%s: %+v, %v", v, p, err)
		}
	}
}

const goodProfile = `[{"engine": "x", "step_us": 1, "sequence_us": 2, "prompt_us": 3, "token_us": 0.5, "layer_us": 4, "launch_share": 0.6, "quantise_share": 0.4, "arrival": 1.5, "admission_steps": 3, "eager_layer_us": 5,
	"request_us": 6, "sustained": 0.9, "batch_tokens": 8192, "grade": "assumed", "source": "test"}]`

func TestProfilesAreReadStrictly(t *testing.T) {
	if ps, err := infer.DecodeProfiles([]byte(goodProfile)); err != nil || len(ps) != 1 || ps[0].Prompt != 3e-6 {
		t.Fatalf("%+v, %v", ps, err)
	}
	for says, change := range map[string][2]string{
		"unknown field": {`"sequence_us"`, `"sequences_us"`},
		"negative":      {`"layer_us": 4`, `"layer_us": -4`},
		"quantise":      {`0.4`, `1.4`},
		"sustained":     {`0.9`, `1.9`},
		"source":        {`"test"`, `""`},
		"grade":         {`"assumed"`, `"hoped"`},
		"batch_tokens":  {`8192`, `0`},
		"starts with":   {`"step_us": 1`, `"before_version": "new", "step_us": 1`},
	} {
		_, err := infer.DecodeProfiles([]byte(strings.Replace(goodProfile, change[0], change[1], 1)))
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("want one line with %q, got %v", says, err)
		}
	}
}

func FuzzProfiles(f *testing.F) {
	f.Add([]byte(goodProfile))
	f.Add([]byte("[{}]"))
	f.Add([]byte("null"))
	if data, err := os.ReadFile("profiles.json"); err == nil {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ps, err := infer.DecodeProfiles(data)
		if err != nil {
			return
		}
		for _, p := range ps {
			if p.Step < 0 || p.Launch < 0 || p.Arrival < 0 || p.Sustained < 0 || p.Sustained > 1 || p.BatchTokens < 1 {
				t.Errorf("%+v passed", p)
			}
		}
	})
}

const goodDrafting = `[{"engine":"x","before_version":"0.5","sequences":32,"unhidden":0.1,"grade":"assumed","source":"test"}]`

func TestDraftingIsReadStrictly(t *testing.T) {
	if list, err := infer.DecodeDrafting([]byte(goodDrafting)); err != nil || len(list) != 1 || list[0].Sequences != 32 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, change := range [][2]string{{`"sequences"`, `"sequence"`}, {`0.5"`, `old"`}, {`32`, `-1`}, {`0.1`, `-0.1`}, {`assumed`, `hoped`}, {`"test"`, `""`}} {
		if _, err := infer.DecodeDrafting([]byte(strings.Replace(goodDrafting, change[0], change[1], 1))); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: want one line, got %v", change, err)
		}
	}
}

// Only versions that are named and older give something up.
func TestEngineVersions(t *testing.T) {
	c, err := catalog.Cluster("h200x8")
	if err != nil {
		t.Fatal(err)
	}
	for text, limited := range map[string]bool{"sglang": false, "sglang@0.4": true, "SGLang@0.4.6.post1": true, "sglang@v0.4.3": true, "sglang@0.5": false, "sglang@0.10": false, "vllm@0.4": false} {
		p, err := infer.ProfileOn(text, c.Device)
		if err != nil || (p.Drafting != nil) != limited {
			t.Errorf("%s: %+v, %v", text, p, err)
		}
	}
	for _, text := range []string{"sglang@", "sglang@latest", "tgi@1"} {
		if _, err := infer.ProfileOn(text, c.Device); err == nil {
			t.Errorf("%s was taken", text)
		}
	}
}
