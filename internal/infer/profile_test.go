package infer_test

import (
	"os"
	"strings"
	"testing"

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
