package plan

import (
	"strings"
	"testing"

	"github.com/ridgeline/ridgeline/internal/model"
)

// 144 ranks hold 256 experts only with copies that fill the last slots: the EP144
// of DeepSeek's decode units with 32 redundant experts
// (deepseek-ai/open-infra-index day 6).
func TestRedundantExperts(t *testing.T) {
	m := &model.Model{Name: "m", Layers: []model.Layer{{
		Attention: model.Attention{Kind: model.GQA, Heads: 8, KVHeads: 8},
		FFN:       model.FFN{Experts: 256, TopK: 8, ExpertInner: 2048},
	}}}
	for text, says := range map[string]string{
		"dp=144,ep=144,redundant=32":   "",
		"dp=32,ep=32,redundant=32":     "",
		"dp=32,ep=32,redundant=0":      "",
		"dp=144,ep=144":                "redundant=32 copies",
		"dp=144,ep=144,redundant=33":   "use redundant=176",
		"tp=8,redundant=8":             "set ep",
		"dp=32,ep=32,redundant=-1":     "whole number",
		"dp=32,ep=32,redundant=1,dp=3": "given twice",
	} {
		got, err := ParseServing(text)
		if err == nil {
			err = got.Whole.Serving.Check(m, 144)
		}
		switch {
		case says == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case says != "" && (err == nil || !strings.Contains(err.Error(), says)):
			t.Errorf("%s: error %v, want %q", text, err, says)
		case says == "":
			again, err := ParseServing(got.Whole.Serving.String())
			if err != nil || again.Whole.Serving != got.Whole.Serving {
				t.Errorf("%s printed %q: %v", text, got.Whole.Serving.String(), err)
			}
		}
	}
}
